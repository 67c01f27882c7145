#include <algorithm>
#include <optional>

#include "exchange/slot_io.h"
#include "exchange/staged_call.h"
#include "plan/tiling.h"
#include "record/call_timer.h"
#include "view/copy.h"

namespace headrace::exchange {
namespace {

using plan::TilingSum;

/// One rank's part in a staged write.
class StagedWrite {
 public:
  StagedWrite(const StagedCall& call, StagedAccess& access)
      : call_(call),
        access_(access),
        staging_(call.channel.staging()),
        event_(call.channel.board().event()),
        round_(call.channel.board().round()),
        last_(call.window_of(access.end - 1)),
        pieces_(call.granule_shift) {}

  StagedOutcome run();

 private:
  void wait_for_slot(std::int64_t window);
  void fill(std::int64_t window);
  std::optional<WriteStop> stop() const;
  bool can_write_next() const;
  bool has_work() const;
  bool has_more_to_fill(std::int64_t window) const;
  bool leaves_writing();
  void write_ready();
  void write_window(std::int64_t window);
  void write_tiled(std::int64_t window);
  SlotFile slot_of(std::int64_t window) const;
  void stop_at(std::int64_t window, const WriteStop& stop) const;
  /// Waits for `done()`, writing windows meanwhile.
  template <class Done>
  void work_until(Done done);

  StagingFailure& failure() const { return staging_.failures[round_ % fabric::kBoardDepth]; }
  bool has_stopped() const { return failure().round.load(std::memory_order_acquire) == round_; }

  const StagedCall& call_;
  StagedAccess& access_;
  Staging& staging_;
  fabric::Event& event_;
  std::uint64_t round_;
  std::int64_t last_;  ///< the last window that holds bytes of this rank
  TilingSum pieces_;
};

StagedOutcome StagedWrite::run() {
  for (std::int64_t window = call_.window_of(access_.begin); window <= last_; ++window) {
    if (!call_.slots.has_slot(window)) wait_for_slot(window);
    fill(window);
    // seq_cst: either this rank sees that no rank writes, or the writing rank sees the window
    // complete.
    call_.slots.slot(window).arrived.fetch_add(1, std::memory_order_seq_cst);
    const bool may_leave = call_.crowded && has_more_to_fill(window);
    if (!may_leave || !leaves_writing()) write_ready();
  }
  work_until([&] { return staging_.next.load(std::memory_order_acquire) > last_; });
  const std::optional<WriteStop> stopped = stop();
  if (!stopped) return {access_.bytes};
  return outcome_of_write(access_, access_.file.position() - access_.bytes, *stopped);
}

bool StagedWrite::has_more_to_fill(std::int64_t window) const {
  return window < last_ && call_.slots.has_slot(window + 1);
}

/// Wakes a rank that fell asleep on another core, to write the complete window; once for each
/// window. On a crowded node, the core that completes windows is the one that is behind. False if
/// this rank should write itself. This rank looks again before it sleeps, whatever the other does.
bool StagedWrite::leaves_writing() {
  if (!has_work()) return true;
  const std::int64_t called = staging_.next.load(std::memory_order_acquire) + 1;
  return staging_.called.exchange(called, std::memory_order_relaxed) == called ||
         event_.signal_standby();
}

void StagedWrite::wait_for_slot(std::int64_t window) {
  const std::int64_t later = call_.sleep_until(window, last_);
  work_until([&] { return call_.slots.has_slot(later); });
  work_until([&] { return call_.slots.has_slot(window); });
}

/// Where the call stopped, if that was in one of this rank's windows or before.
std::optional<WriteStop> StagedWrite::stop() const {
  if (!has_stopped() || failure().window > last_) return std::nullopt;
  return failure().stop;
}

/// Copies this rank's pieces of a window into its slot.
void StagedWrite::fill(std::int64_t window) {
  call_.slots.map(window);
  const plan::FileRange file = call_.range(window);
  const view::Window slot{call_.slots.bytes(window), file.begin};
  const auto copy = [&](auto&& visit) {
    const record::InPhase phase(record::Phase::copy);
    access_.copy(Direction::write, slot, std::min(access_.end, file.end), visit);
  };
  if (!call_.may_tile) {
    plan::Coverage covered = call_.slots.coverage(window, call_.granule_shift);
    copy([&](const view::StridedRun& run) {
      covered.mark_strided(run.offset - file.begin, run.length, run.stride, run.count);
    });
    return;
  }
  pieces_.clear();
  copy([&](const view::StridedRun& run) {
    pieces_.add(run.offset - file.begin, run.length, run.stride, run.count);
  });
  std::atomic<TilingSum::Value>& all = call_.slots.slot(window).pieces;
  TilingSum::Value seen = all.load(std::memory_order_relaxed);
  while (!all.compare_exchange_weak(seen, TilingSum::together(seen, pieces_.value()),
                                    std::memory_order_relaxed)) {
  }
}

template <class Done>
void StagedWrite::work_until(Done done) {
  while (!done()) {
    write_ready();
    if (done()) return;
    const record::InPhase phase(record::Phase::wait);
    event_.wait(
        call_.waiter, [&] { return done() || has_work(); }, fabric::Event::Sleeper::standby);
  }
}

/// Writes the complete windows, one after another, unless another rank is writing.
void StagedWrite::write_ready() {
  while (can_write_next()) {
    if (staging_.writing.exchange(1, std::memory_order_seq_cst) != 0) return;
    while (can_write_next()) {
      const std::int64_t window = staging_.next.load(std::memory_order_acquire);
      write_window(window);
      staging_.next.store(window + 1, std::memory_order_release);
      call_.signal(window);
    }
    staging_.writing.store(0, std::memory_order_seq_cst);
    // On a crowded node no rank is woken for windows that this rank will look at itself.
    event_.signal_where(
        [&] { return !call_.crowded || staging_.next.load(std::memory_order_relaxed) > last_; });
  }
}

/// Whether a window is complete and no rank writes. seq_cst: see run().
bool StagedWrite::has_work() const {
  return staging_.writing.load(std::memory_order_seq_cst) == 0 && can_write_next();
}

bool StagedWrite::can_write_next() const {
  const std::int64_t window = staging_.next.load(std::memory_order_acquire);
  // Windows of an earlier call are left to the ranks that are still in it.
  if (window < call_.first_window || window > last_) return false;
  const Slot* const slot = call_.slots.find_slot(window);
  return slot != nullptr &&
         slot->arrived.load(std::memory_order_seq_cst) == call_.participants(window);
}

void StagedWrite::write_window(std::int64_t window) {
  if (call_.may_tile) {
    write_tiled(window);
  } else {
    write_and_clear(slot_of(window), call_.granule_shift, failure(), round_);
  }
  call_.slots.pass_on(window);
}

/// Writes the window as one piece if the ranks' pieces tile it. If they overlap, bytes between them
/// may be no rank's: then the call stops, and each rank writes its own bytes.
void StagedWrite::write_tiled(std::int64_t window) {
  const plan::FileRange file = call_.range(window);
  const plan::FileRange touched = call_.touched(window);
  const TilingSum::Value pieces =
      call_.slots.slot(window).pieces.exchange(0, std::memory_order_relaxed);
  if (has_stopped()) return;
  if (pieces == TilingSum::of_stretch(touched.begin - file.begin, touched.end - file.begin,
                                      call_.granule_shift)) {
    if (const auto stop = write_slot(slot_of(window), touched)) stop_at(window, *stop);
  } else {
    stop_at(window, {touched.begin, 0});
  }
}

SlotFile StagedWrite::slot_of(std::int64_t window) const {
  const ByteCount size = call_.windows.window_size();
  return {call_.store, call_.slots, window, call_.range(window).begin, size};
}

void StagedWrite::stop_at(std::int64_t window, const WriteStop& stop) const {
  note_stop(failure(), round_, window, stop);
}

}  // namespace

StagedOutcome outcome_of_write(const StagedAccess& access, ByteCount start, const WriteStop& stop) {
  if (stop.done_end >= access.end) return {access.bytes};
  const ByteCount below =
      view::data_below(*access.file.type(), access.file.origin(), stop.done_end);
  StagedOutcome outcome{std::clamp<ByteCount>(below - start, 0, access.bytes)};
  if (outcome.bytes == access.bytes) return outcome;
  if (stop.system_error != 0) {
    outcome.fail(stop.system_error);
  } else {
    outcome.stop = StagedStop::pieces_overlap;
  }
  return outcome;
}

StagedOutcome staged_write(const StagedCall& call, StagedAccess& access) {
  return StagedWrite(call, access).run();
}

}  // namespace headrace::exchange
