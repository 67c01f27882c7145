#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "collective/shape.h"
#include "fabric/channel.h"

namespace headrace::collective {

/// The ranks of each node, which leaders gather: numbers of ranks by node, then the ranks by place.
/// Empty on ranks that do not lead.
struct NodeTables {
  std::vector<int> begins;  ///< node_count + 1 places
  std::vector<int> ranks;
  int largest_node = 0;

  /// Whether the ranks follow the nodes.
  bool is_in_order() const;
};

/// Collective over the channel; `tag` is of messages between ranks. `mine` becomes the ranks of
/// this rank's node.
Result<NodeTables> gather_tables(fabric::Channel& channel, int tag, std::vector<int>& mine);

}  // namespace headrace::collective
