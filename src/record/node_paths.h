#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/text_table.h"

namespace headrace::record {

/// The call paths of a node's ranks as one tree: ranks that run one program share most of them.
class NodePaths {
 public:
  explicit NodePaths(TextTable& texts) : texts_(texts) {}

  /// The places of each frame of a tree of the image, in order.
  std::vector<std::int64_t> add(const Image& image, std::span<const Frame> frames);

  /// The place of a module.
  std::int64_t module(std::string_view file, std::string_view build_id);

  std::span<const PathsRow> paths() const { return paths_; }
  std::span<const ModulesRow> modules() const { return modules_; }

 private:
  using Key = std::array<std::int64_t, 5>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  PathsRow row_of(const Image& image, const Frame& frame, std::int64_t caller);

  TextTable& texts_;
  std::vector<ModulesRow> modules_;
  std::vector<PathsRow> paths_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> module_places_;
  std::unordered_map<Key, std::int64_t, Hash> path_places_;
};

}  // namespace headrace::record
