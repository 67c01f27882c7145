#include "overlap/computation.h"

#include <mpi.h>

#include <array>

namespace headrace::bench::overlap {
namespace {

/// A round: one step of a smoothing iteration over 8 KiB.
double compute(std::int64_t rounds) {
  std::array<double, 1024> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
      values[i] = 0.25 * values[i - 1] + 0.5 * values[i] + 0.25 * values[i + 1];
    }
  }
  return values[values.size() / 2];
}

}  // namespace

Computation::Computation() {
  constexpr double kLongEnough = 0.05;  // seconds
  volatile double sink = 0;
  for (std::int64_t rounds = 1000;; rounds *= 2) {
    const double begin = MPI_Wtime();
    sink = compute(rounds);
    const double seconds = MPI_Wtime() - begin;
    if (seconds < kLongEnough) continue;
    rounds_per_second_ = static_cast<double>(rounds) / seconds;
    static_cast<void>(sink);
    return;
  }
}

double Computation::run(double seconds) const {
  return compute(static_cast<std::int64_t>(seconds * rounds_per_second_));
}

}  // namespace headrace::bench::overlap
