#include <algorithm>
#include <optional>

#include "exchange/empty_slot.h"
#include "exchange/slot_io.h"
#include "exchange/staged_call.h"
#include "record/call_timer.h"

namespace headrace::exchange {
namespace {

/// One rank's part in a staged read.
class StagedRead {
 public:
  StagedRead(const StagedCall& call, StagedAccess& access)
      : call_(call),
        access_(access),
        staging_(call.channel.staging()),
        event_(call.channel.board().event()),
        last_(call.window_of(access.end - 1)) {}

  StagedOutcome run();

 private:
  void wait_for(std::int64_t window);
  std::optional<std::int64_t> next_to_load() const;
  bool load_next();
  void load(std::int64_t window);
  void empty(std::int64_t window, StagedOutcome& outcome);
  void leave(std::int64_t window);

  const StagedCall& call_;
  StagedAccess& access_;
  Staging& staging_;
  fabric::Event& event_;
  std::int64_t last_;  ///< the last window that holds bytes of this rank
};

StagedOutcome StagedRead::run() {
  StagedOutcome outcome;
  for (std::int64_t window = call_.window_of(access_.begin); window <= last_; ++window) {
    if (!call_.slots.is_loaded(window)) {
      wait_for(call_.sleep_until(window, last_));
      wait_for(window);
    }
    if (outcome.stop == StagedStop::none) empty(window, outcome);
    leave(window);
  }
  return outcome;
}

/// Waits until the window is loaded, loading windows meanwhile.
void StagedRead::wait_for(std::int64_t window) {
  while (!call_.slots.is_loaded(window)) {
    if (load_next()) continue;
    const record::InPhase phase(record::Phase::wait);
    event_.wait(call_.waiter, [&] { return call_.slots.is_loaded(window) || next_to_load(); });
  }
}

/// The next window that no rank has begun to load, if this rank may load it now.
std::optional<std::int64_t> StagedRead::next_to_load() const {
  const std::int64_t window = staging_.next.load(std::memory_order_acquire);
  // Windows of an earlier call are left to the ranks that are still in it.
  if (window < call_.first_window || window > last_) return std::nullopt;
  if (!call_.slots.has_slot(window)) return std::nullopt;
  return window;
}

/// Loads a window. False if there is none to load.
bool StagedRead::load_next() {
  while (const std::optional<std::int64_t> window = next_to_load()) {
    std::int64_t next = *window;
    // If this fails, another rank has taken the window.
    if (staging_.next.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel)) {
      load(*window);
      return true;
    }
  }
  return false;
}

void StagedRead::load(std::int64_t window) {
  const ByteCount size = call_.windows.window_size();
  load_slot({call_.store, call_.slots, window, call_.range(window).begin, size},
            call_.touched(window));
  call_.signal(window);
}

/// Copies this rank's pieces out of a loaded window.
void StagedRead::empty(std::int64_t window, StagedOutcome& outcome) {
  call_.slots.map(window);
  const plan::FileRange file = call_.range(window);
  empty_slot(call_.slots, window, file, access_, outcome);
}

void StagedRead::leave(std::int64_t window) {
  const int left = call_.slots.slot(window).arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (left < call_.participants(window)) return;
  call_.slots.pass_on(window);
  call_.signal(window);
}

}  // namespace

StagedOutcome staged_read(const StagedCall& call, StagedAccess& access) {
  return StagedRead(call, access).run();
}

}  // namespace headrace::exchange
