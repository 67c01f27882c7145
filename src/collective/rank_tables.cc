#include "collective/rank_tables.h"

#include <algorithm>
#include <cstdint>

#include "fabric/combined.h"
#include "fabric/messages.h"

namespace headrace::collective {
namespace {

struct PostedRank {
  std::int64_t rank = 0;
};

std::vector<int> ranks_of_node(fabric::Channel& channel) {
  fabric::Board& board = channel.board();
  board.post(channel.waiter(), PostedRank{channel.nodes().rank()});
  board.wait_for_all(channel.waiter());
  std::vector<int> ranks;
  for (int i = 0; i < board.ranks(); ++i) {
    ranks.push_back(static_cast<int>(board.posted_by<PostedRank>(i).rank));
  }
  return ranks;
}

/// Of all nodes: a node's number of ranks, and then its ranks, as many ints as the largest needs.
Result<std::vector<std::byte>> exchange_nodes(fabric::Channel& channel, int tag,
                                              const std::vector<int>& mine, int largest) {
  std::vector<int> block(static_cast<std::size_t>(largest) + 1, -1);
  block[0] = static_cast<int>(mine.size());
  std::ranges::copy(mine, block.begin() + 1);
  const topo::NodeMap& nodes = channel.nodes();
  return fabric::allgather(channel.messenger(), tag, nodes.leaders(), nodes.node_index(),
                           std::as_bytes(std::span(block)));
}

NodeTables tables_of(std::span<const std::byte> all, int nodes, int largest) {
  NodeTables tables;
  tables.largest_node = largest;
  tables.begins.push_back(0);
  std::vector<int> block(static_cast<std::size_t>(largest) + 1);
  for (int node = 0; node < nodes; ++node) {
    const auto bytes = std::as_writable_bytes(std::span(block));
    std::ranges::copy(all.subspan(static_cast<std::size_t>(node) * bytes.size(), bytes.size()),
                      bytes.begin());
    tables.ranks.insert(tables.ranks.end(), block.begin() + 1, block.begin() + 1 + block[0]);
    tables.begins.push_back(static_cast<int>(tables.ranks.size()));
  }
  return tables;
}

}  // namespace

bool NodeTables::is_in_order() const {
  return std::ranges::is_sorted(ranks);
}

Result<NodeTables> gather_tables(fabric::Channel& channel, int tag, std::vector<int>& mine) {
  const Error failed = attempt([&]() -> Error {
    mine = ranks_of_node(channel);
    return {};
  });
  if (failed) return failed;
  fabric::Greatest largest{channel.nodes().node_size()};
  if (Error error = channel.combine(largest)) return error;
  NodeTables tables;
  tables.largest_node = static_cast<int>(largest.value);
  if (!channel.nodes().is_leader()) return tables;
  const auto all = exchange_nodes(channel, tag, mine, tables.largest_node);
  if (!all) return all.error();
  Error lacking = attempt([&]() -> Error {
    tables = tables_of(all.value(), channel.nodes().node_count(), tables.largest_node);
    return {};
  });
  if (lacking) return lacking;
  return tables;
}

}  // namespace headrace::collective
