#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// What the recorder measures time by: the processor's time stamp counter if the kernel keeps its
/// own clock by it (so it is the same on all cores, and never stops), else CLOCK_MONOTONIC. A read
/// takes some 10 and 25 ns.
namespace headrace::record {

/// Set before the first call of ticks() by choose_clock().
extern bool has_steady_counter;
void choose_clock();

inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t since_1970_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t ticks() {
#if defined(__x86_64__)
  if (has_steady_counter) return static_cast<std::int64_t>(__rdtsc());
#endif
  return monotonic_ns();
}

/// The two clocks at one moment. Two of them tell how long a tick is.
struct ClockReading {
  std::int64_t ticks = 0;
  std::int64_t ns = 0;  ///< of CLOCK_MONOTONIC
};

ClockReading read_clock();

/// What CLOCK_REALTIME was at a moment of CLOCK_MONOTONIC, in ns.
std::int64_t since_1970_at(std::int64_t ns);

/// Nanoseconds of a tick; 1 if the readings are too close to tell.
double tick_length(const ClockReading& begin, const ClockReading& end);

}  // namespace headrace::record
