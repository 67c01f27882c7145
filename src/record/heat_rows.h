#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/heat_counts.h"
#include "record/image_reader.h"
#include "record/rank_times.h"

namespace headrace::record {

/// Jobs of more ranks have neighbouring ones of a node together, so that a record has no more rows
/// of the heat map for more ranks.
inline constexpr std::int64_t kMostHeatRanks = 256;

/// Bins of one width, from the begin on.
struct HeatBins {
  int level = 0;  ///< how often their width has doubled
  std::array<HeatBin, kHeatBins> bins{};
};

/// All that is in the table, in bins that are as wide as the widest that is used, or as those of
/// `level` if these are wider.
HeatBins folded_heat(const HeatTable& table, int level = 0);

/// What stands in the record: one row for each rank, or neighbouring ranks, layer and bin in which
/// something was moved. `images` are of one node, by rank.
std::vector<HeatRow> heat_rows(std::span<const Image> images, std::span<const RankTimes> times);

}  // namespace headrace::record
