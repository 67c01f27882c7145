#include "collective/rank_tables.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "fabric/combined.h"
#include "fabric/messages.h"

namespace headrace::collective {
namespace {

struct PostedRank {
  std::int64_t rank = 0;
};

/// What leaders tell each other: of each node its number of ranks, and then its ranks, as many ints
/// as the largest needs. All memory is taken before any of them begins: if one lacked it later, the
/// others would wait for ever.
class Exchange {
 public:
  /// Throws std::bad_alloc.
  Exchange(int nodes, int largest)
      : block_(static_cast<std::size_t>(largest) + 1, -1),
        scratch_(block_.size() * static_cast<std::size_t>(nodes)),
        all_(scratch_.size()) {}

  Error run(fabric::Channel& channel, int tag, const std::vector<int>& mine) {
    block_[0] = static_cast<int>(mine.size());
    std::ranges::copy(mine, block_.begin() + 1);
    const topo::NodeMap& nodes = channel.nodes();
    return fabric::allgather(channel.messenger(), tag, nodes.leaders(), nodes.node_index(),
                             std::as_bytes(std::span(block_)),
                             std::as_writable_bytes(std::span(scratch_)),
                             std::as_writable_bytes(std::span(all_)));
  }

  /// Takes no memory where the tables have it.
  void fill(NodeTables& tables) const {
    tables.begins.push_back(0);
    for (auto node = all_.begin(); node != all_.end(); node += std::ssize(block_)) {
      tables.ranks.insert(tables.ranks.end(), node + 1, node + 1 + *node);
      tables.begins.push_back(static_cast<int>(tables.ranks.size()));
    }
  }

 private:
  std::vector<int> block_;
  std::vector<int> scratch_;
  std::vector<int> all_;
};

/// `ranks` has a place for each.
void tell_ranks_of_node(fabric::Channel& channel, std::span<int> ranks) {
  fabric::Board& board = channel.board();
  board.post(channel.waiter(), PostedRank{channel.nodes().rank()});
  board.wait_for_all(channel.waiter());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = static_cast<int>(board.posted_by<PostedRank>(static_cast<int>(i)).rank);
  }
}

/// Collective: this rank's error, or that another one lacks memory.
Error agree(fabric::Channel& channel, const Error& mine) {
  return fabric::agree_on_memory(mine, [&](bool is_ready) -> Result<bool> {
    fabric::Sum failing{is_ready ? 0 : 1};
    if (Error error = channel.combine(failing)) return error;
    return failing.value == 0;
  });
}

}  // namespace

bool NodeTables::is_in_order() const {
  return std::ranges::is_sorted(ranks);
}

Result<NodeTables> gather_tables(fabric::Channel& channel, int tag, std::vector<int>& mine) {
  const topo::NodeMap& nodes = channel.nodes();
  fabric::Greatest largest{nodes.node_size()};
  if (Error error = channel.combine(largest)) return error;
  NodeTables tables;
  tables.largest_node = static_cast<int>(largest.value);
  std::optional<Exchange> exchange;
  const Error lacking = attempt([&]() -> Error {
    mine.resize(static_cast<std::size_t>(nodes.node_size()));
    if (!nodes.is_leader()) return {};
    exchange.emplace(nodes.node_count(), tables.largest_node);
    tables.begins.reserve(static_cast<std::size_t>(nodes.node_count()) + 1);
    tables.ranks.reserve(static_cast<std::size_t>(nodes.size()));
    return {};
  });
  if (Error error = agree(channel, lacking)) return error;
  tell_ranks_of_node(channel, mine);
  if (!nodes.is_leader()) return tables;
  if (Error error = exchange->run(channel, tag, mine)) return error;
  exchange->fill(tables);
  return tables;
}

}  // namespace headrace::collective
