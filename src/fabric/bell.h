#pragma once

#include <atomic>
#include <cstdint>

#include "base/pause.h"
#include "fabric/messenger.h"
#include "fabric/waiter.h"

namespace headrace::fabric {

/// Wakes ranks of a node that sleep until a word of shared memory changes. Unlike an Event it costs
/// whoever changes the word a look at the number of sleepers, and no more while nobody sleeps.
///
/// Whoever changes what others may wait for stores it with memory_order_seq_cst, and then looks at
/// has_sleepers(). Zeroed when new.
class alignas(64) Bell {
 public:
  bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }
  void ring();

  /// Returns once `ready()` is true. Lets the MPI library progress the program's own messages after
  /// every so many looks, and after each sleep: another rank may be unable to come until a message
  /// of this one has gone out.
  template <class Ready>
  void wait(const Waiter& waiter, Ready ready) {
    for (int spins = 0; spins < waiter.spins; spins += kSpinsBetweenProgress) {
      for (int spin = 0; spin < kSpinsBetweenProgress; ++spin) {
        if (ready()) return;
        pause_spinning();
      }
      progress(waiter);
    }
    std::int64_t nanoseconds = kShortestSleep;
    for (int sleeps = 0; !ready(); ++sleeps) {
      sleep(nanoseconds, ready);
      if (ready()) return;
      progress(waiter);
      if (sleeps >= kShortSleeps && nanoseconds < kLongestSleep) nanoseconds *= 2;
    }
  }

 private:
  /// Looks at shared memory between two looks at the library.
  static constexpr int kSpinsBetweenProgress = 1000;
  static constexpr std::int64_t kShortestSleep = 62'500;
  static constexpr std::int64_t kLongestSleep = 1'000'000;
  /// A message of many parts needs the library's progress for each.
  static constexpr int kShortSleeps = 32;

  static void progress(const Waiter& waiter) {
    if (waiter.messenger != nullptr) waiter.messenger->progress();
  }
  template <class Ready>
  void sleep(std::int64_t nanoseconds, Ready ready) {
    const std::uint32_t seen = rings_.load(std::memory_order_seq_cst);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!ready()) doze(seen, nanoseconds);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  void doze(std::uint32_t seen, std::int64_t nanoseconds);

  std::atomic<std::uint32_t> rings_;
  std::atomic<std::uint32_t> sleepers_;
};

}  // namespace headrace::fabric
