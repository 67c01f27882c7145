#pragma once

#include <atomic>
#include <cstdint>

#include "base/pause.h"
#include "fabric/messenger.h"
#include "fabric/waiter.h"

namespace headrace::fabric {

/// A count in shared memory that ranks of one node wait on. A rank that changes what others may
/// wait for calls signal(). A waiting rank spins briefly, then sleeps in the kernel (futex(2)), so
/// that ranks may outnumber cores.
class Event {
 public:
  void signal() {
    signal_where([] { return true; });
  }
  /// Signals, and wakes sleeping ranks only if `wakes()`, which is called only if ranks sleep. To
  /// wake a rank costs a system call and, on a full machine, a turn on a core.
  template <class Wakes>
  void signal_where(Wakes wakes) {
    count_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0 && wakes()) wake();
  }

  /// A standby sleeper can take over work that another rank leaves.
  enum class Sleeper { other, standby };

  /// Signals, but wakes only one rank: a standby sleeper that fell asleep on another core than this
  /// thread's. False if there is none; cores whose numbers differ by 31 count as one. The caller
  /// must do the work itself if nobody has done it later.
  bool signal_standby();

  /// Returns once `ready()` is true. A rank that makes it true must call signal() or
  /// signal_standby() afterwards. Wakes now and then to let the MPI library progress the program's
  /// own messages: a peer may need a message of this rank before it can come.
  template <class Ready>
  void wait(const Waiter& waiter, Ready ready, Sleeper sleeper = Sleeper::other) {
    for (int spin = 0; spin < waiter.spins; ++spin) {
      if (ready()) return;
      pause_spinning();
    }
    std::int64_t nanoseconds = kShortestSleep;
    while (true) {
      const std::uint32_t seen = count_.load(std::memory_order_seq_cst);
      if (ready()) return;
      sleep(seen, nanoseconds, sleeper);
      if (ready()) return;
      if (waiter.messenger != nullptr) waiter.messenger->progress();
      if (nanoseconds < kLongestSleep) nanoseconds *= 2;
    }
  }

  /// For a thread that also looks after other things: call changes(), look, and if there was
  /// nothing to do, wait_for_change(). It returns at the first signal since changes(), or after
  /// `nanoseconds`.
  std::uint32_t changes() const { return count_.load(std::memory_order_seq_cst); }
  void wait_for_change(std::uint32_t seen, std::int64_t nanoseconds,
                       Sleeper sleeper = Sleeper::other) {
    sleep(seen, nanoseconds, sleeper);
  }

 private:
  static constexpr std::int64_t kShortestSleep = 50'000;
  static constexpr std::int64_t kLongestSleep = 5'000'000;

  void wake();
  void sleep(std::uint32_t seen, std::int64_t nanoseconds, Sleeper sleeper);

  std::atomic<std::uint32_t> count_;
  std::atomic<std::uint32_t> sleepers_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "shared between processes");

}  // namespace headrace::fabric
