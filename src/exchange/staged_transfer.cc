#include "exchange/staged_transfer.h"

#include <algorithm>

namespace headrace::exchange {
namespace {

/// Where this rank's data in a window ends.
FileOffset end_of(const StagedAccess& access, plan::FileRange range) {
  return std::min(access.end, range.end);
}

}  // namespace

void prepare_slots(Control& control, const SlotGeometry& geometry) {
  const std::int64_t next = control.staging.transferred.load(std::memory_order_relaxed);
  for (std::int64_t window = next; window < next + geometry.count; ++window) {
    Slot& slot = control.staging.slots[static_cast<std::size_t>(window % geometry.count)];
    slot.next_window.store(window, std::memory_order_relaxed);
    slot.arrived.store(0, std::memory_order_relaxed);
  }
}

StagedTransfer::StagedTransfer(Channel& channel, const Waiter& waiter, storage::Store& store,
                               const SlotMemory& slots, const SlotGeometry& geometry,
                               const plan::Windows& windows, std::int64_t first_window,
                               int granule_shift)
    : channel_(channel),
      waiter_(waiter),
      staging_(channel.control()->staging),
      store_(store),
      slots_(slots),
      geometry_(geometry),
      windows_(windows),
      first_window_(first_window),
      granule_shift_(granule_shift),
      round_(channel.board()->round()) {}

StagedOutcome StagedTransfer::run(StagedAccess& access) {
  return access.direction == Direction::write ? write(access) : read(access);
}

StagedOutcome StagedTransfer::write(StagedAccess& access) {
  const std::int64_t first = first_window_ + windows_.window_of(access.begin);
  const std::int64_t last = first_window_ + windows_.window_of(access.end - 1);
  for (std::int64_t window = first; window <= last; ++window) {
    work_until(Direction::write, last, [&] { return slot_is_free(window); });
    const plan::FileRange file = range(window);
    plan::Coverage covered = coverage(window);
    view::copy(Direction::write, {slot_bytes(window), file.begin}, access.file,
               end_of(access, file), access.buffer, access.memory, access.memory.remaining(),
               [&](const view::StridedRun& run) {
                 covered.mark_strided(run.offset - file.begin, run.length, run.stride, run.count);
               });
    const int arrived = slot(window).arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (arrived == windows_.participants(window - first_window_))
      channel_.control()->event.signal();
    transfer_ready(Direction::write, last);
  }
  work_until(Direction::write, last, [&] { return has_transferred(last); });
  StagedOutcome outcome{access.bytes, 0};
  if (has_failed() && failure().window <= last) {
    outcome.system_error = failure().system_error;
    const ByteCount start = access.file.position() - access.bytes;
    outcome.bytes = std::clamp<ByteCount>(
        view::data_below(*access.file.type(), access.file.origin(), failure().done_end) - start, 0,
        access.bytes);
    if (outcome.bytes == access.bytes) outcome.system_error = 0;
  }
  return outcome;
}

StagedOutcome StagedTransfer::read(StagedAccess& access) {
  const std::int64_t first = first_window_ + windows_.window_of(access.begin);
  const std::int64_t last = first_window_ + windows_.window_of(access.end - 1);
  StagedOutcome outcome;
  bool ended = false;
  for (std::int64_t window = first; window <= last; ++window) {
    work_until(Direction::read, last, [&] { return has_transferred(window); });
    const plan::FileRange file = range(window);
    Slot& mine = slot(window);
    if (has_failed() && failure().window <= window) {
      outcome.system_error = failure().system_error;
      ended = true;
    }
    if (!ended) {
      const FileOffset end = end_of(access, file);
      outcome.bytes += view::copy(Direction::read, {slot_bytes(window), file.begin}, access.file,
                                  std::min(end, mine.valid_end), access.buffer, access.memory,
                                  access.memory.remaining());
      // Data that the file does not have: its end was met, and nothing behind it counts.
      ended = mine.valid_end < end && access.file.remaining() > 0 &&
              access.memory.remaining() > 0 && access.file.peek() < end;
    }
    const int departed = mine.arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (departed == windows_.participants(window - first_window_)) {
      mine.arrived.store(0, std::memory_order_relaxed);
      mine.next_window.store(window + geometry_.count, std::memory_order_release);
      channel_.control()->event.signal();
    }
  }
  return outcome;
}

template <class Done>
void StagedTransfer::work_until(Direction direction, std::int64_t last, Done done) {
  while (!done()) {
    transfer_ready(direction, last);
    if (done()) return;
    channel_.control()->event.wait(waiter_, [&] {
      return done() || (staging_.storing.load(std::memory_order_acquire) == 0 &&
                        can_transfer_next(direction, last));
    });
  }
}

void StagedTransfer::transfer_ready(Direction direction, std::int64_t last) {
  while (can_transfer_next(direction, last)) {
    if (staging_.storing.exchange(1, std::memory_order_acquire) != 0) return;
    while (can_transfer_next(direction, last)) {
      const std::int64_t window = staging_.transferred.load(std::memory_order_acquire);
      if (direction == Direction::write) {
        write_window(window);
      } else {
        load_window(window);
      }
      staging_.transferred.store(window + 1, std::memory_order_release);
      channel_.control()->event.signal();
    }
    staging_.storing.store(0, std::memory_order_release);
    channel_.control()->event.signal();
  }
}

bool StagedTransfer::can_transfer_next(Direction direction, std::int64_t last) const {
  const std::int64_t window = staging_.transferred.load(std::memory_order_acquire);
  // Windows of an earlier call are for the ranks that still are in it.
  if (window < first_window_ || window > last) return false;
  if (!slot_is_free(window)) return false;
  return direction == Direction::read || slot(window).arrived.load(std::memory_order_acquire) ==
                                             windows_.participants(window - first_window_);
}

void StagedTransfer::write_window(std::int64_t window) {
  const plan::FileRange file = range(window);
  plan::Coverage covered = coverage(window);
  ByteCount begin = 0;
  ByteCount len = 0;
  for (ByteCount at = 0; !has_failed() && covered.next_run(at, windows_.window_size(), begin, len);
       at = begin + len) {
    const iovec segment{slot_bytes(window) + begin, static_cast<std::size_t>(len)};
    const storage::Transferred done = store_.write(file.begin + begin, {&segment, 1});
    if (done.system_error != 0) fail(window, file.begin + begin + done.bytes, done.system_error);
  }
  covered.clear(windows_.window_size());
  slot(window).arrived.store(0, std::memory_order_relaxed);
  slot(window).next_window.store(window + geometry_.count, std::memory_order_release);
}

void StagedTransfer::load_window(std::int64_t window) {
  const plan::FileRange touched = windows_.touched(window - first_window_);
  Slot& target = slot(window);
  target.valid_end = touched.begin;
  if (has_failed()) return;
  const iovec segment{slot_bytes(window) + (touched.begin - range(window).begin),
                      static_cast<std::size_t>(touched.end - touched.begin)};
  const storage::Transferred done = store_.read(touched.begin, {&segment, 1});
  target.valid_end = touched.begin + done.bytes;
  if (done.system_error != 0) fail(window, target.valid_end, done.system_error);
}

void StagedTransfer::fail(std::int64_t window, FileOffset done_end, int system_error) {
  StagingFailure& failure = this->failure();
  failure.window = window;
  failure.done_end = done_end;
  failure.system_error = system_error;
  failure.round.store(round_, std::memory_order_release);
}

bool StagedTransfer::slot_is_free(std::int64_t window) const {
  return slot(window).next_window.load(std::memory_order_acquire) == window;
}

bool StagedTransfer::has_transferred(std::int64_t window) const {
  return staging_.transferred.load(std::memory_order_acquire) > window;
}

Slot& StagedTransfer::slot(std::int64_t window) const {
  return staging_.slots[static_cast<std::size_t>(window % geometry_.count)];
}

std::byte* StagedTransfer::slot_bytes(std::int64_t window) const {
  return slots_.base + window % geometry_.count * geometry_.window_size;
}

plan::Coverage StagedTransfer::coverage(std::int64_t window) const {
  std::byte* maps = slots_.base + geometry_.count * geometry_.window_size;
  std::byte* map = maps + window % geometry_.count * (geometry_.window_size / 8);
  return {reinterpret_cast<plan::Coverage::Word*>(map), granule_shift_};
}

StagingFailure& StagedTransfer::failure() const {
  return staging_.failures[round_ % kBoardDepth];
}

bool StagedTransfer::has_failed() const {
  return failure().round.load(std::memory_order_acquire) == round_;
}

}  // namespace headrace::exchange
