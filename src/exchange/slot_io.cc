#include "exchange/slot_io.h"

#include "record/call_timer.h"

namespace headrace::exchange {
namespace {

iovec segment_of(const SlotFile& slot, const plan::FileRange& part) {
  return {slot.bytes + (part.begin - slot.begin), static_cast<std::size_t>(part.end - part.begin)};
}

/// Writes the covered bytes up to the first failure. What lies between them counts as left out.
std::optional<WriteStop> write_covered(const SlotFile& slot, const plan::Coverage& covered) {
  record::CallTimer* const timer = record::running_timer;
  ByteCount begin = 0;
  ByteCount len = 0;
  for (ByteCount at = 0; covered.next_run(at, slot.size, begin, len); at = begin + len) {
    if (timer != nullptr && at > 0) [[unlikely]]
      timer->note_gap(begin - at);
    const FileOffset offset = slot.begin + begin;
    if (const auto stop = write_slot(slot, {offset, offset + len})) return stop;
  }
  return std::nullopt;
}

}  // namespace

void load_slot(const SlotFile& slot, const plan::FileRange& part) {
  slot.slots.map(slot.window);
  const iovec segment = segment_of(slot, part);
  const storage::Transferred done = slot.store.read(part.begin, {&segment, 1});
  slot.slots.set_loaded(slot.window, part.begin + done.bytes, done.system_error);
}

std::optional<WriteStop> write_slot(const SlotFile& slot, const plan::FileRange& part) {
  const iovec segment = segment_of(slot, part);
  const storage::Transferred done = slot.store.write(part.begin, {&segment, 1});
  if (done.system_error == 0) return std::nullopt;
  return WriteStop{part.begin + done.bytes, done.system_error};
}

void write_and_clear(const SlotFile& slot, int granule_shift, StagingFailure& failure,
                     std::uint64_t round) {
  plan::Coverage covered = slot.slots.coverage(slot.window, granule_shift);
  if (failure.round.load(std::memory_order_acquire) != round) {
    if (const auto stop = write_covered(slot, covered)) {
      note_stop(failure, round, slot.window, *stop);
    }
  }
  covered.clear(slot.size);
}

void note_stop(StagingFailure& failure, std::uint64_t round, std::int64_t window,
               const WriteStop& stop) {
  failure.window = window;
  failure.stop = stop;
  failure.round.store(round, std::memory_order_release);
}

}  // namespace headrace::exchange
