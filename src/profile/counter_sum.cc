#include "profile/counter_sum.h"

#include <cmath>

namespace headrace::profile {

CounterReading sum_of(std::span<const CounterReading> counters) {
  CounterReading sum;
  double scaled = 0;
  double known = 0;  // ns enabled
  for (const CounterReading& one : counters) {
    sum.count += one.count;
    sum.enabled += one.enabled;
    sum.running += one.running;
    if (one.running == 0) continue;
    const auto enabled = static_cast<double>(one.enabled);
    scaled += static_cast<double>(one.count) * enabled / static_cast<double>(one.running);
    known += enabled;
  }
  if (sum.running >= sum.enabled || known == 0) return sum;
  scaled *= static_cast<double>(sum.running) / known;
  sum.count = static_cast<std::uint64_t>(std::llround(scaled));
  return sum;
}

}  // namespace headrace::profile
