#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/process_mark.h"
#include "base/result.h"
#include "fabric/event.h"

namespace headrace::file {

/// Counts calls that were begun and are not done.
class InFlight {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove();
  /// What the calls did is seen afterwards. Those of a forked process's parent are not waited for.
  void wait_for_none(const fabric::Waiter& waiter) { wait_for_most(0, waiter); }
  /// The same for all but one: for a thread that is to carry that one out.
  void wait_for_others(const fabric::Waiter& waiter) { wait_for_most(1, waiter); }

 private:
  void wait_for_most(std::int64_t most, const fabric::Waiter& waiter);

  ProcessMark process_;
  std::atomic<std::int64_t> count_ = 0;
  fabric::Event event_{};
};

/// Failures of calls whose outcome the program has not asked for. They lie in memory of the calls,
/// and here when these have ended: keeping and telling them takes none.
class UnreportedFailures {
 public:
  /// A call's own place among them.
  class Place {
   public:
    explicit Place(UnreportedFailures& all) : all_(all) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Once, when the call fails.
    void keep(const Error& error) noexcept;
    /// The program has been told.
    void forget() noexcept;

   private:
    friend class UnreportedFailures;
    UnreportedFailures& all_;
    bool is_used_ = false;  ///< once and for all
    // Guarded by the lock of all.
    Error error_;
    std::uint64_t number_ = 0;
    Place* next_ = nullptr;  ///< of those that failed later
  };

  /// The oldest, or none. From then on the program counts as told of all.
  Error take() noexcept;

 private:
  bool remove(Place& place) noexcept;
  void leave(Place& place) noexcept;

  std::mutex mutex_;  ///< guards what follows
  std::uint64_t last_ = 0;
  Place* first_ = nullptr;  ///< of calls that live, the oldest
  Error left_;              ///< of those that have ended, the oldest
  std::uint64_t left_number_ = 0;
};

/// What a file shares with the calls begun on it. Outlives the file: a program may ask for the
/// outcome of a call later.
struct Background {
  InFlight meeting;      ///< collective calls in which the ranks of the node meet
  InFlight independent;  ///< those that wait for no other rank
  UnreportedFailures unreported;
};

}  // namespace headrace::file
