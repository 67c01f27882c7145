#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/node_paths.h"
#include "record/rank_times.h"
#include "record/text_table.h"

namespace headrace::record {

/// The traced functions of a node's ranks, and their calls.
class NodeTraces {
 public:
  NodeTraces(TextTable& texts, NodePaths& paths) : texts_(texts), paths_(paths) {}

  /// `regions`: the number of each region, by what calls have.
  void add(const Image& image, const RankTimes& times, std::span<const std::int64_t> regions);

  std::span<const FunctionsRow> functions() const { return functions_; }
  /// Sorted.
  std::vector<TracedRow> calls() const;

 private:
  /// Rank, thread, function, path, region.
  using Key = std::array<std::int64_t, 5>;

  std::vector<std::int64_t> functions_of(const Image& image);

  TextTable& texts_;
  NodePaths& paths_;
  std::map<std::array<std::int64_t, 6>, std::int64_t> places_;
  std::vector<FunctionsRow> functions_;
  std::map<Key, TracedRow> calls_;
};

}  // namespace headrace::record
