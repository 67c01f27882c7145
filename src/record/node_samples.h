#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/text_table.h"

namespace headrace::record {

/// The samples of a node's ranks.
class NodeSamples {
 public:
  explicit NodeSamples(TextTable& texts) : texts_(texts) {}

  /// `paths`: where each frame of the image's samples is in the node's tree. `regions`: the number
  /// of each region, by what samples have.
  void add(const Image& image, std::span<const std::int64_t> paths,
           std::span<const std::int64_t> regions);

  std::span<const SamplingRow> threads() const { return threads_; }
  std::span<const SamplesRow> rows() const { return rows_; }

 private:
  TextTable& texts_;
  std::vector<SamplingRow> threads_;
  std::vector<SamplesRow> rows_;
};

}  // namespace headrace::record
