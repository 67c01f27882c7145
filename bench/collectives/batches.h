#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/functions.h"
#include "collectives/operation.h"

namespace headrace::bench::collectives {

/// Ways to do a cell's operation, measured in turns.
struct Measured {
  std::int64_t calls = 0;                    ///< of a batch
  std::int64_t wrong = 0;                    ///< elements, on all ranks
  std::vector<std::vector<double>> seconds;  ///< of a call, by way and batch
};

/// Makes batches of calls, whose buffers are written anew before each call. The time of a batch is
/// that of the rank which took longest, without the writing.
class Batches {
 public:
  using Ways = std::span<const std::function<void()>>;

  /// `own`: procedures with which the ranks meet between batches. `milliseconds`: of a batch.
  Batches(const World& world, const Functions& own, std::int64_t count, double milliseconds)
      : world_(world), own_(own), count_(count), milliseconds_(milliseconds) {}

  /// Collective. Each way is called with the cell filled, and its result is compared. Ways: one,
  /// or an even number of them, see way_of.
  Measured measure(Cell& cell, Ways ways);

 private:
  double batch(Cell& cell, const std::function<void()>& way, std::int64_t calls);
  std::int64_t check(Cell& cell, const std::function<void()>& way);

  const World& world_;
  Functions own_;
  std::int64_t count_;
  double milliseconds_;
  std::int64_t number_ = 0;  ///< of the last call
};

}  // namespace headrace::bench::collectives
