#pragma once

#include <span>
#include <vector>

namespace headrace::topo {

/// Which ranks of a communicator share a node, as seen by one of them. Ranks are numbers in the
/// communicator; nodes are numbered from 0 in the order of their first ranks.
class NodeMap {
 public:
  /// `nodes`: the ranks of each node, in rank order; nodes in the order of their first ranks.
  NodeMap(const std::vector<std::vector<int>>& nodes, int rank);

  /// Every rank knows the numbers of this many ranks of each node: its first ones.
  static constexpr int kKnownRanks = 4;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int node_count() const { return static_cast<int>(leaders_.size()); }
  /// This rank's node, this rank's place among the node's ranks (from 0), and how many they are.
  int node_index() const { return node_index_; }
  int node_rank() const { return node_rank_; }
  int node_size() const { return node_size_; }
  /// Whether other ranks are on this rank's node.
  bool shares_node() const { return node_size_ > 1; }
  /// Whether this is its node's first rank. A rank that is alone on its node leads it.
  bool is_leader() const { return node_rank_ == 0; }
  bool is_on_first_node() const { return node_index_ == 0; }
  /// The leader of each node.
  std::span<const int> leaders() const { return leaders_; }
  /// The rank at `place` (below kKnownRanks) of a node; -1 if the node has fewer ranks.
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
