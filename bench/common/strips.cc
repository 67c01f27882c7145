#include "common/strips.h"

namespace headrace::bench {

void add_run(Strips& strips, std::int64_t offset, std::int64_t length) {
  if (!strips.empty() && strips.back().length == length) {
    Strip& last = strips.back();
    const std::int64_t distance = offset - (last.offset + (last.count - 1) * last.stride);
    if (last.count == 1) last.stride = distance;
    if (distance == last.stride) {
      ++last.count;
      return;
    }
  }
  strips.push_back({offset, length, 0, 1});
}

std::int64_t run_count(const Strips& strips) {
  std::int64_t total = 0;
  for (const Strip& strip : strips) total += strip.count;
  return total;
}

std::int64_t byte_count(const Strips& strips) {
  std::int64_t total = 0;
  for (const Strip& strip : strips) total += strip.count * strip.length;
  return total;
}

std::int64_t end_of(const Strips& strips) {
  std::int64_t end = 0;
  for (const Strip& strip : strips) {
    const std::int64_t last = strip.offset + (strip.count - 1) * strip.stride;
    end = std::max({end, last + strip.length, strip.offset + strip.length});
  }
  return end;
}

}  // namespace headrace::bench
