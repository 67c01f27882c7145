#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/rank_times.h"
#include "record/text_table.h"

namespace headrace::record {

/// The regions of a node's ranks. Those of one number and label have one number here, from 1.
class NodeRegions {
 public:
  explicit NodeRegions(TextTable& texts) : texts_(texts) {}

  /// Returns the number of each, by what its calls have: a note's number and 1; 0: none.
  std::vector<std::int64_t> add(const Image& image, const RankTimes& times);

  /// Sorted.
  std::span<const RegionsRow> rows();

 private:
  std::int64_t number_of(std::int64_t id, std::int64_t label);

  TextTable& texts_;
  std::map<std::array<std::int64_t, 2>, std::int64_t> numbers_;
  std::vector<RegionsRow> rows_;
};

}  // namespace headrace::record
