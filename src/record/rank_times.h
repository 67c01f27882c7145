#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/clock.h"
#include "record/image_reader.h"

namespace headrace::record {

/// A product that is no integer, between 0 and INT64_MAX.
std::int64_t bounded(double value);

/// What a rank's ticks are in nanoseconds.
class RankTimes {
 public:
  RankTimes(const ImageHeader& header, double tick_length)
      : header_(header), tick_length_(tick_length) {}

  std::int64_t ns(std::int64_t ticks) const {
    return bounded(static_cast<double>(ticks) * tick_length_);
  }
  /// The same of what may be below 0.
  std::int64_t signed_ns(std::int64_t ticks) const {
    const double value = static_cast<double>(ticks) * tick_length_;
    return value < 0 ? -bounded(-value) : bounded(value);
  }
  /// Since MPI ran.
  std::int64_t since_begin(std::int64_t ticks) const {
    return ticks <= header_.begin_ticks ? 0 : ns(ticks - header_.begin_ticks);
  }

 private:
  const ImageHeader& header_;
  double tick_length_;
};

/// The times of each image, all of one node. A rank that did not come to an end has but one reading
/// of its clock: `now`, read on the same node, is its second. If `now` cannot be (another clock;
/// the machine was started anew), another rank's counter tells. Images must stay.
std::vector<RankTimes> times_of(std::span<const Image> images, const ClockReading& now);

/// When the rank began MPI_Finalize or was last heard of, in ticks.
std::int64_t end_of(const Image& image);

/// For which the program had recording off until then, in ticks.
std::int64_t off_ticks(const Image& image);

/// From the end of MPI_Init to the begin of MPI_Finalize, or to the last call that is known.
std::int64_t run_of(const Image& image, const RankTimes& times);

}  // namespace headrace::record
