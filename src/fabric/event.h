#pragma once

#include <atomic>
#include <cstdint>

#include "base/pause.h"
#include "fabric/messenger.h"
#include "fabric/waiter.h"

namespace headrace::fabric {

/// A count in shared memory that ranks of one node wait on: whoever changes what others may wait
/// for calls signal(); a waiting rank spins briefly, then sleeps in the kernel (futex(2)), so that
/// ranks may outnumber cores.
class Event {
 public:
  void signal() {
    signal_where([] { return true; });
  }
  /// The same where `wakes()` may be true for a sleeping rank, else without waking any. Asked only
  /// where ranks sleep: waking one costs a system call, and on a full machine its turn on a core.
  template <class Wakes>
  void signal_where(Wakes wakes) {
    count_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0 && wakes()) wake();
  }

  /// Those that stand by can take over work that another rank leaves.
  enum class Sleeper { other, standby };

  /// Signals, but wakes one rank only, that stands by and fell asleep on another core than this
  /// thread's. False where none was found; cores whose numbers are 31 apart are taken for one.
  /// Whoever calls this does the work itself where it finds it undone later.
  bool signal_standby();

  /// Returns once `ready()` is true. Everything that can make it true must be followed by signal(),
  /// or by signal_standby().
  /// Wakes now and then to let the MPI library progress the program's own messages: a peer may be
  /// unable to come before a message of this rank has gone out.
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

  /// For who must look after other things as well: changes() before looking, and doze() where there
  /// was nothing to do, which returns at a signal since then or after a while.
  std::uint32_t changes() const { return count_.load(std::memory_order_seq_cst); }
  void doze(std::uint32_t seen, std::int64_t nanoseconds, Sleeper sleeper = Sleeper::other) {
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
