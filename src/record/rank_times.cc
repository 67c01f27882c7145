#include "record/rank_times.h"

#include <algorithm>
#include <optional>

namespace headrace::record {
namespace {

bool has_end(const ImageHeader& header) {
  return header.end_ticks > header.begin_ticks && header.end_ns > header.begin_ns;
}

std::optional<double> length_of_tick(const ImageHeader& header, const ClockReading& now) {
  if (header.has_steady_counter == 0) return 1;
  const ClockReading begin{header.begin_ticks, header.begin_ns};
  if (has_end(header)) return tick_length(begin, {header.end_ticks, header.end_ns});
  if (has_steady_counter && now.ticks > begin.ticks && now.ns > begin.ns) {
    return tick_length(begin, now);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t bounded(double value) {
  constexpr double kMost = 9.2e18;
  return value > 0 ? static_cast<std::int64_t>(std::min(value, kMost) + 0.5) : 0;
}

std::vector<RankTimes> times_of(std::span<const Image> images, const ClockReading& now) {
  double other = 1;
  for (const Image& image : images) {
    if (image.header().has_steady_counter == 0) continue;
    if (const auto length = length_of_tick(image.header(), now)) other = *length;
  }
  std::vector<RankTimes> times;
  times.reserve(images.size());
  for (const Image& image : images) {
    times.emplace_back(image.header(), length_of_tick(image.header(), now).value_or(other));
  }
  return times;
}

std::int64_t end_of(const Image& image) {
  if (has_end(image.header())) return image.header().end_ticks;
  std::int64_t end = 0;
  for (const auto& [number, thread] : image.threads()) {
    end = std::max(end, thread.totals.last_ticks);
  }
  return end;
}

std::int64_t off_ticks(const Image& image) {
  const ImageHeader& header = image.header();
  const std::int64_t now =
      header.off_since > 0 ? std::max<std::int64_t>(end_of(image) - header.off_since, 0) : 0;
  return std::max<std::int64_t>(header.off_ticks, 0) + now;
}

std::int64_t run_of(const Image& image, const RankTimes& times) {
  const ImageHeader& header = image.header();
  if (has_end(header)) return header.end_ns - header.begin_ns;
  return times.since_begin(end_of(image));
}

}  // namespace headrace::record
