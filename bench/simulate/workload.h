#pragma once

#include <algorithm>
#include <cstdint>

#include "base/types.h"
#include "plan/windows.h"

namespace headrace::simulate {

/// Who writes what: in each call, each rank `pieces` pieces of `piece` bytes, one rank's after the
/// other's, again and again; a call goes on where the last one ended. Ranks fill nodes in turn.
///
///     pieces 2, 4 ranks on 2 nodes:   0 1 2 3 0 1 2 3   (ranks)   0 0 1 1 0 0 1 1   (nodes)
struct Workload {
  std::int64_t ranks = 1;
  std::int64_t ranks_per_node = 1;
  ByteCount piece = 1;
  std::int64_t pieces = 1;
  std::int64_t calls = 1;

  std::int64_t nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  /// Bytes of all ranks' first pieces together.
  ByteCount row() const { return ranks * piece; }
  ByteCount call_bytes() const { return row() * pieces; }
  plan::FileRange hull(std::int64_t call) const {
    return {call * call_bytes(), (call + 1) * call_bytes()};
  }
  std::int64_t node_of(std::int64_t rank) const { return rank / ranks_per_node; }
  std::int64_t ranks_on(std::int64_t node) const {
    return std::min(ranks_per_node, ranks - node * ranks_per_node);
  }

  /// Bytes of a node's ranks in the file below `offset`.
  ByteCount node_bytes_below(std::int64_t node, FileOffset offset) const {
    const ByteCount chunk = ranks_on(node) * piece;
    const FileOffset begin = node * ranks_per_node * piece;
    return offset / row() * chunk + std::clamp<ByteCount>(offset % row() - begin, 0, chunk);
  }
};

}  // namespace headrace::simulate
