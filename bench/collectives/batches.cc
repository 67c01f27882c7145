#include "collectives/batches.h"

#include <algorithm>
#include <chrono>

#include "collectives/turns.h"

namespace headrace::bench::collectives {
namespace {

constexpr int kWarmUp = 8;  ///< calls: more than HEADRACE_COLL_AFTER

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Measured Batches::measure(Cell& cell, Ways ways) {
  Measured measured;
  double longest = 0;
  for (const auto& way : ways) {
    measured.wrong += check(cell, way);
    longest = std::max(longest, batch(cell, way, kWarmUp));
  }
  measured.calls = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(milliseconds_ / 1e3 / std::max(longest, 1e-9)), 1, 10'000);
  measured.seconds.resize(ways.size());
  for (std::int64_t i = 0; i < count_; ++i) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = way_of(static_cast<std::size_t>(i), turn, ways.size());
      measured.seconds[way].push_back(batch(cell, ways[way], measured.calls));
    }
  }
  for (const auto& way : ways) measured.wrong += check(cell, way);
  return measured;
}

/// Seconds of a call, the same on all ranks.
double Batches::batch(Cell& cell, const std::function<void()>& way, std::int64_t calls) {
  double spent = 0;
  own_.barrier(world_.communicator);
  for (std::int64_t i = 0; i < calls; ++i) {
    cell.fill(++number_);
    const double begin = now();
    way();
    spent += now() - begin;
  }
  double longest = 0;
  own_.allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, world_.communicator);
  return longest / static_cast<double>(calls);
}

std::int64_t Batches::check(Cell& cell, const std::function<void()>& way) {
  std::int64_t wrong = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    cell.fill(++number_);
    way();
    wrong += cell.wrong(number_);
  }
  return sum(world_, wrong);
}

}  // namespace headrace::bench::collectives
