#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace headrace::collective {

/// Which rank of a communicator is on which node, as one of the ranks sees it. Ranks have places:
/// those of the first node come first, in rank order, then those of the next; nodes are in the
/// order of their first ranks. The tables lie in memory that a node's ranks share, so that a rank
/// has no list of all ranks of its own.
struct Shape {
  int rank = 0;
  int size = 1;
  int node_index = 0;
  int node_rank = 0;  ///< this rank's place on its node
  int node_size = 1;
  int node_count = 1;
  int largest_node = 1;  ///< ranks of the node that has most
  /// Where each node's places begin, and where the last one's end: node_count + 1 numbers.
  std::span<const int> node_begins;
  std::span<const int> ranks;  ///< by place; empty where places are ranks

  bool is_leader() const { return node_rank == 0; }
  /// Whether the ranks follow the nodes, so that places are ranks.
  bool is_in_order() const { return ranks.empty(); }
  int rank_at(int place) const {
    return ranks.empty() ? place : ranks[static_cast<std::size_t>(place)];
  }
  int begin_of(int node) const { return node_begins[static_cast<std::size_t>(node)]; }
  int size_of(int node) const { return begin_of(node + 1) - begin_of(node); }
  int place() const { return begin_of(node_index) + node_rank; }
  int leader_of(int node) const { return rank_at(begin_of(node)); }
  /// The node of any rank: searches the tables.
  int node_of(int of_rank) const {
    for (int node = 0; ranks.size() > 0 && node < node_count; ++node) {
      const auto own = ranks.subspan(static_cast<std::size_t>(begin_of(node)),
                                     static_cast<std::size_t>(size_of(node)));
      if (std::ranges::binary_search(own, of_rank)) return node;
    }
    const auto behind = std::ranges::upper_bound(node_begins, of_rank);
    return static_cast<int>(behind - node_begins.begin()) - 1;
  }
  int rank_on_node(int of_node) const { return rank_at(begin_of(node_index) + of_node); }
  /// A rank's place on this rank's node; -1 where it is on another.
  int place_on_node(int of_rank) const {
    if (ranks.empty()) {
      const int place = of_rank - begin_of(node_index);
      return place >= 0 && place < node_size ? place : -1;
    }
    const auto own = ranks.subspan(static_cast<std::size_t>(begin_of(node_index)),
                                   static_cast<std::size_t>(node_size));
    const auto found = std::ranges::lower_bound(own, of_rank);
    return found != own.end() && *found == of_rank ? static_cast<int>(found - own.begin()) : -1;
  }
};

}  // namespace headrace::collective
