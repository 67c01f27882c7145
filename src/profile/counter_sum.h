#pragma once

#include <cstdint>
#include <span>

namespace headrace::profile {

/// What read() tells of a counter (PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING).
struct CounterReading {
  std::uint64_t count = 0;
  std::uint64_t enabled = 0;  ///< ns
  std::uint64_t running = 0;  ///< ns of these in which it counted
};

/// Counters of one event for several threads as one. Each is scaled up by its own times, since
/// events may take turns in some threads only; its count is such that count * enabled / running has
/// their sum. Threads that never had a counter are taken to be as the others.
CounterReading sum_of(std::span<const CounterReading> counters);

}  // namespace headrace::profile
