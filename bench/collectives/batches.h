#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/functions.h"
#include "collectives/operation.h"
#include "collectives/traffic.h"

namespace headrace::bench::collectives {

/// What all nodes send in a call, by the counters of their interfaces.
struct SentByCall {
  double bytes = 0;
  double packets = 0;
};

/// Ways to do a cell's operation, measured in turns.
struct Measured {
  std::int64_t calls = 0;                     ///< of a batch
  std::int64_t wrong = 0;                     ///< elements, on all ranks
  std::vector<std::vector<double>> seconds;   ///< of a call, by way and batch
  std::vector<std::vector<SentByCall>> sent;  ///< the same; empty where it is not counted
};

/// Makes batches of calls, whose buffers are written anew before each call. The time of a batch is
/// that of the rank which took longest, without the writing. If one rank writes more than others,
/// all meet between writing and call.
class Batches {
 public:
  using Ways = std::span<const std::function<void()>>;

  /// `own`: procedures with which the ranks meet between batches. `milliseconds`: of a batch.
  /// `count_sent`: whether what nodes send is counted, too. Collective.
  Batches(const World& world, const Functions& own, std::int64_t count, double milliseconds,
          bool count_sent)
      : world_(world),
        own_(own),
        count_(count),
        milliseconds_(milliseconds),
        traffic_(world, own, count_sent) {}

  /// Collective. Each way is called with the cell filled, and its result is compared. Ways: one,
  /// or an even number of them, see way_of.
  Measured measure(Cell& cell, Ways ways);

 private:
  struct Batch {
    double seconds = 0;  ///< of a call
    Sent sent;           ///< in all calls, and while ranks meet behind them
  };
  Batch batch(Cell& cell, const std::function<void()>& way, std::int64_t calls);
  Sent sent_to_meet(Cell& cell, std::int64_t calls);
  std::int64_t check(Cell& cell, const std::function<void()>& way);

  const World& world_;
  Functions own_;
  std::int64_t count_;
  double milliseconds_;
  Traffic traffic_;
  std::int64_t number_ = 0;  ///< of the last call
};

}  // namespace headrace::bench::collectives
