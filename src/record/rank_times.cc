#include "record/rank_times.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "record/image_owner.h"

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

/// When it last wrote something with a time.
std::int64_t last_heard(const Image& image) {
  const ImageHeader& header = image.header();
  std::int64_t last = std::max(header.begin_ticks, header.end_ticks);
  for (const auto& [number, thread] : image.threads()) {
    last = std::max({last, thread.totals.last_ticks, thread.totals.last.begin});
  }
  return last;
}

/// Those of one node, whose clocks are the same.
class Ends {
 public:
  Ends(std::span<const Image> images, const ClockReading& now) : now_(now) {
    for (const Image& image : images) {
      std::int64_t& latest = latest_[clock_of(image.header())];
      latest = std::max(latest, last_heard(image));
      is_aborted_ = is_aborted_ || image.state() == RankState::aborted;
      are_finalized_ = are_finalized_ && image.state() == RankState::finalized;
    }
  }

  Ending of(const Image& image, double tick_length) const {
    const ImageHeader& header = image.header();
    const RankState state = state_of(image);
    const std::int64_t latest = latest_[clock_of(header)];
    const std::int64_t now = is_usable(header) ? std::max(now_.ticks, latest) : last_heard(image);
    if (has_end(header)) {
      const bool runs = !are_finalized_ && owner_runs(header);
      return {state, header.end_ticks, runs ? now : latest, 0};
    }
    if (state == RankState::running) return {state, now, now, 0};
    std::int64_t unheard = -1;
    if (is_aborted_) {
      unheard = 0;
    } else if (is_usable(header) && now_.ticks >= latest) {
      unheard = bounded(static_cast<double>(now_.ticks - latest) * tick_length);
    }
    return {state, latest, latest, unheard};
  }

 private:
  static std::size_t clock_of(const ImageHeader& header) {
    return header.has_steady_counter != 0 ? 1 : 0;
  }
  /// Whether the rank's ticks and ours are of one clock, and the machine is the same since then.
  bool is_usable(const ImageHeader& header) const {
    return (header.has_steady_counter != 0) == has_steady_counter &&
           now_.ticks >= header.begin_ticks && now_.ns >= header.begin_ns;
  }

  ClockReading now_;
  std::array<std::int64_t, 2> latest_{};  ///< by clock_of
  bool is_aborted_ = false;
  bool are_finalized_ = true;
};

}  // namespace

RankState state_of(const Image& image) {
  const RankState told = image.state();
  if (told != RankState::running) return told;
  return owner_runs(image.header()) ? RankState::running : RankState::exited;
}

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
  const Ends ends(images, now);
  std::vector<RankTimes> times;
  times.reserve(images.size());
  for (const Image& image : images) {
    const double length = length_of_tick(image.header(), now).value_or(other);
    times.emplace_back(image.header(), length, ends.of(image, length));
  }
  return times;
}

std::int64_t off_ticks(const Image& image, const RankTimes& times) {
  const ImageHeader& header = image.header();
  const std::int64_t now =
      header.off_since > 0 ? std::max<std::int64_t>(times.end().ticks - header.off_since, 0) : 0;
  return std::max<std::int64_t>(header.off_ticks, 0) + now;
}

std::int64_t run_of(const Image& image, const RankTimes& times) {
  const ImageHeader& header = image.header();
  if (has_end(header)) return header.end_ns - header.begin_ns;
  return times.since_begin(times.end().ticks);
}

}  // namespace headrace::record
