#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/process_mark.h"
#include "base/result.h"
#include "fabric/event.h"

namespace headrace::file {

/// Counts calls that are begun and not done.
class InFlight {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove();
  /// Waits until no call is under way; what the calls did is visible afterwards. In a forked
  /// process, does not wait for the parent's calls.
  void wait_for_none(const fabric::Waiter& waiter) { wait_for_most(0, waiter); }
  /// Waits for all calls but one: for a thread that is about to execute that one.
  void wait_for_others(const fabric::Waiter& waiter) { wait_for_most(1, waiter); }

 private:
  void wait_for_most(std::int64_t most, const fabric::Waiter& waiter);

  ProcessMark process_;
  std::atomic<std::int64_t> count_ = 0;
  fabric::Event event_{};
};

/// Failures of calls whose outcome the program has not asked for. Each lies in its call's memory,
/// and moves here when the call ends: keeping and reporting failures takes no memory.
class UnreportedFailures {
 public:
  /// A call's own place in the list.
  class Place {
   public:
    explicit Place(UnreportedFailures& all) : all_(all) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Call once, when the call fails.
    void keep(const Error& error) noexcept;
    /// Call when the program has been told.
    void forget() noexcept;

   private:
    friend class UnreportedFailures;
    UnreportedFailures& all_;
    bool is_used_ = false;  ///< stays true
    // Guarded by mutex_.
    Error error_;
    std::uint64_t number_ = 0;
    Place* next_ = nullptr;  ///< the next one that failed later
  };

  /// Takes the oldest failure, if there is one. Afterwards the program counts as told of all.
  Error take() noexcept;

 private:
  bool remove(Place& place) noexcept;
  void leave(Place& place) noexcept;

  std::mutex mutex_;  ///< guards what follows
  std::uint64_t last_ = 0;
  Place* first_ = nullptr;  ///< the oldest of calls that live
  Error left_;              ///< the oldest of calls that have ended
  std::uint64_t left_number_ = 0;
};

/// What a file shares with the calls begun on it. Outlives the file, since a program may ask for a
/// call's outcome later.
struct Background {
  InFlight meeting;      ///< collective calls in which the ranks of the node meet
  InFlight independent;  ///< calls that wait for no other rank
  UnreportedFailures unreported;
};

}  // namespace headrace::file
