#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

/// Bytes that a rank read and wrote, by time. There are as many bins as fill the run, whatever its
/// length: when the run outgrows kHeatBins of them their width doubles, and pairs become one.
///
/// Nothing is moved when that happens, so any thread may add at any time: where a moment is counted
/// follows from the moment alone. The first kHeatBins places have the least width. Each doubling
/// adds half as many places, of twice the width, for the time that it adds to the run. Who reads
/// them makes them all as wide as the last one that is used.
namespace headrace::record {

enum class HeatLayer : std::uint32_t {
  asked,  ///< by calls of MPI-IO
  own,    ///< by calls of POSIX and of C's streams
};
inline constexpr int kHeatLayers = 2;

inline constexpr std::int64_t kHeatBins = 64;  ///< a power of two
inline constexpr int kHeatShift = 24;          ///< 2^24 ticks are 4 to 17 ms
inline constexpr int kHeatDoublings = 24;      ///< 2^54 ticks are 50 days at least
inline constexpr std::size_t kHeatPlaces =
    static_cast<std::size_t>(kHeatBins + kHeatDoublings * (kHeatBins / 2));

struct HeatBin {
  std::int64_t read;
  std::int64_t written;
};

struct HeatTable {
  std::array<HeatBin, kHeatPlaces> places;
};

/// Of one rank.
struct HeatTables {
  std::array<HeatTable, kHeatLayers> layers;
};

/// Where a moment is counted, in ticks since the begin. What is before that is at the begin, what
/// is too late in the last place.
inline std::size_t heat_place(std::int64_t since) {
  const std::int64_t unit = std::max<std::int64_t>(since, 0) >> kHeatShift;
  if (unit < kHeatBins) return static_cast<std::size_t>(unit);
  constexpr int kFirstBits = std::bit_width(static_cast<std::uint64_t>(kHeatBins) - 1);
  const int level = std::bit_width(static_cast<std::uint64_t>(unit)) - kFirstBits;
  if (level > kHeatDoublings) return kHeatPlaces - 1;
  const std::int64_t within = (unit >> level) - kHeatBins / 2;
  return static_cast<std::size_t>(kHeatBins + (level - 1) * (kHeatBins / 2) + within);
}

/// How often the width has doubled in such a place.
inline int heat_level(std::size_t place) {
  const auto at = static_cast<std::int64_t>(place);
  return at < kHeatBins ? 0 : static_cast<int>((at - kHeatBins) / (kHeatBins / 2)) + 1;
}

/// The first tick of a place.
inline std::int64_t heat_begin(std::size_t place) {
  const int level = heat_level(place);
  const auto at = static_cast<std::int64_t>(place);
  if (level == 0) return at << kHeatShift;
  return (kHeatBins / 2 + (at - kHeatBins) % (kHeatBins / 2)) << (level + kHeatShift);
}

}  // namespace headrace::record
