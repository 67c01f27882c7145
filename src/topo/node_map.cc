#include "topo/node_map.h"

#include <algorithm>

namespace headrace::topo {

NodeMap::NodeMap(const std::vector<std::vector<int>>& nodes, int rank) : rank_(rank) {
  leaders_.reserve(nodes.size());
  known_.reserve(nodes.size() * kKnownRanks);
  for (const std::vector<int>& ranks : nodes) {
    const auto mine = std::ranges::lower_bound(ranks, rank);
    if (mine != ranks.end() && *mine == rank) {
      node_index_ = static_cast<int>(leaders_.size());
      node_rank_ = static_cast<int>(mine - ranks.begin());
      node_size_ = static_cast<int>(ranks.size());
    }
    size_ += static_cast<int>(ranks.size());
    leaders_.push_back(ranks.front());
    for (std::size_t place = 0; place < kKnownRanks; ++place) {
      known_.push_back(place < ranks.size() ? ranks[place] : -1);
    }
  }
}

}  // namespace headrace::topo
