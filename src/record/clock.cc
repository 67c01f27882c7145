#include "record/clock.h"

#include "base/small_file.h"

namespace headrace::record {

bool has_steady_counter = false;

void choose_clock() {
#if defined(__x86_64__)
  has_steady_counter =
      read_small_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", 16) ==
      "tsc\n";
#endif
}

ClockReading read_clock() {
  // The shortest of a few: one that was interrupted in between would be wrong by as much.
  ClockReading best;
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = ticks();
    const std::int64_t ns = monotonic_ns();
    const std::int64_t after = ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, ns};
  }
  return best;
}

std::int64_t since_1970_at(std::int64_t ns) {
  std::int64_t distance = 0;
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = monotonic_ns();
    const std::int64_t since_1970 = since_1970_ns();
    const std::int64_t after = monotonic_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    distance = since_1970 - (before + (after - before) / 2);
  }
  return ns + distance;
}

double tick_length(const ClockReading& begin, const ClockReading& end) {
  const std::int64_t counted = end.ticks - begin.ticks;
  const std::int64_t ns = end.ns - begin.ns;
  return counted <= 0 || ns <= 0 ? 1 : static_cast<double>(ns) / static_cast<double>(counted);
}

}  // namespace headrace::record
