#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/clock.h"
#include "record/image_reader.h"

namespace headrace::record {

/// A product that is no integer, between 0 and INT64_MAX.
std::int64_t bounded(double value);

/// How the rank has ended. One that was killed left no state: its process tells whether it runs.
RankState state_of(const Image& image);

/// Until when a rank ran, as far as it is known.
struct Ending {
  RankState state = RankState::running;
  std::int64_t ticks = 0;
  std::int64_t heard = 0;  ///< until when a call that had not ended went on, in ticks
  /// For so many ns nobody knows what became of it: until now, of a rank that was killed. -1: for
  /// how long is not known either.
  std::int64_t unheard = 0;
};

/// What a rank's ticks are in nanoseconds, and when it ended.
class RankTimes {
 public:
  RankTimes(const ImageHeader& header, double tick_length, const Ending& end)
      : header_(header), tick_length_(tick_length), end_(end) {}

  const Ending& end() const { return end_; }

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
  Ending end_;
};

/// The times of each image, all of one node. A rank that did not come to an end has but one reading
/// of its clock: `now`, read on the same node, is its second. If `now` cannot be (another clock;
/// the machine was started anew), another rank's counter tells. Images must stay.
///
/// A rank that runs ends now. One that was killed ends when any rank of the node was last heard of:
/// one that calls MPI_Abort tells when all are killed.
std::vector<RankTimes> times_of(std::span<const Image> images, const ClockReading& now);

/// For which the program had recording off until its end, in ticks.
std::int64_t off_ticks(const Image& image, const RankTimes& times);

/// From the end of MPI_Init to the begin of MPI_Finalize, or to its end.
std::int64_t run_of(const Image& image, const RankTimes& times);

}  // namespace headrace::record
