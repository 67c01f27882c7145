#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/process_mark.h"
#include "base/result.h"
#include "exchange/event.h"

namespace headrace::engine {

/// Counts calls that were begun and are not done.
class InFlight {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove();
  /// What the calls did is seen afterwards. Those of a forked process's parent are not waited for.
  void wait_for_none(const exchange::Waiter& waiter) { wait_for_most(0, waiter); }
  /// The same for all but one: for a thread that is to carry that one out.
  void wait_for_others(const exchange::Waiter& waiter) { wait_for_most(1, waiter); }

 private:
  void wait_for_most(std::int64_t most, const exchange::Waiter& waiter);

  ProcessMark process_;
  std::atomic<std::int64_t> count_ = 0;
  exchange::Event event_{};
};

/// Failures of calls whose outcome the program has not asked for.
class UntoldFailures {
 public:
  using Ticket = std::uint64_t;  ///< 0 for none

  /// Where there is no memory the failure is kept without its text, and may be told twice.
  Ticket add(const Error& error);
  /// The program has been told of this one.
  void remove(Ticket ticket);
  /// The oldest, or none. From then on the program counts as told of all.
  Error take();

 private:
  std::mutex mutex_;  ///< guards what follows
  Ticket last_ = 0;
  std::map<Ticket, Error> failures_;
  Error unlisted_;  ///< one that there was no memory for
};

/// What a file shares with the calls begun on it. Outlives the file: a program may ask for the
/// outcome of a call later.
struct Background {
  InFlight meeting;      ///< collective calls in which the ranks of the node meet
  InFlight independent;  ///< those that wait for no other rank
  UntoldFailures untold;
};

}  // namespace headrace::engine
