#pragma once

#include <span>
#include <vector>

namespace headrace::topo {

/// Who of a communicator's ranks shares a node with whom, as one of the ranks sees it. Ranks are
/// numbers in the communicator; nodes are numbered from 0 in the order of their first ranks.
class NodeMap {
 public:
  /// `nodes`: the ranks of each node, in rank order; nodes in the order of their first ranks.
  NodeMap(const std::vector<std::vector<int>>& nodes, int rank);

  /// Ranks of a node whose numbers every rank knows: its first ones.
  static constexpr int kKnownRanks = 4;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int node_count() const { return static_cast<int>(leaders_.size()); }
  /// This rank's node, and this rank's place on it.
  int node_index() const { return node_index_; }
  int node_rank() const { return node_rank_; }
  int node_size() const { return node_size_; }
  /// Whether other ranks are on this rank's node.
  bool shares_node() const { return node_size_ > 1; }
  /// A node's first rank is its leader; a rank that is alone leads its node.
  bool is_leader() const { return node_rank_ == 0; }
  bool is_on_first_node() const { return node_index_ == 0; }
  /// The leader of each node.
  std::span<const int> leaders() const { return leaders_; }
  /// The rank at a place of a node, which is less than kKnownRanks; -1 where the node has fewer.
  int rank_at(int node, int place) const {
    return known_[static_cast<std::size_t>(node * kKnownRanks + place)];
  }

 private:
  int rank_;
  int size_ = 0;
  int node_index_ = 0;
  int node_rank_ = 0;
  int node_size_ = 1;
  std::vector<int> leaders_;
  std::vector<int> known_;  ///< kKnownRanks of each node
};

}  // namespace headrace::topo
