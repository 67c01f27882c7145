// Leaders at distances 1, 2, 4, ...: each gives all it has, and so has twice as much after each
// turn (Bruck et al., IEEE TPDS 8(11), 1997). Blocks stay at their places: what lies across the end
// goes in two messages.
#include <algorithm>

#include "collective/algorithm.h"
#include "collective/allgather.h"

namespace headrace::collective {
namespace {

/// Calls with each contiguous range of nodes [begin, end) of `count` nodes from `first` on.
template <class Range>
void for_each_range(int first, int count, int nodes, Range range) {
  first %= nodes;
  const int before_end = std::min(count, nodes - first);
  range(first, first + before_end);
  if (before_end < count) range(0, count - before_end);
}

/// Partners are far apart, so several messages share a link. That counts as a tenth more bytes:
/// assumed on 2026-11-28, and not measured. Above some size the ring is then taken.
constexpr double kSharedLinks = 1.1;

Algorithm::Cost cost(const Shape& shape, const Call& call) {
  double messages = 0;
  for (int distance = 1; distance < shape.node_count; distance *= 2) ++messages;
  return {kSharedLinks * missing_bytes(shape, call), messages};
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  gather_on_node(shape, call, schedule);
  if (shape.is_leader()) {
    const int nodes = shape.node_count;
    std::vector<std::size_t> begins(static_cast<std::size_t>(nodes) + 1);
    for (int node = 0; node < nodes; ++node) {
      const auto i = static_cast<std::size_t>(node);
      begins[i + 1] = begins[i] + bytes_of_places(call.blocks, shape, shape.begin_of(node),
                                                  shape.begin_of(node + 1));
    }
    const auto at = [&](int node) { return begins[static_cast<std::size_t>(node)]; };
    for (int distance = 1; distance < nodes; distance *= 2) {
      const int count = std::min(distance, nodes - distance);
      const int from = (shape.node_index + distance) % nodes;
      const int to = (shape.node_index + nodes - distance) % nodes;
      for_each_range(from, count, nodes, [&](int begin, int end) {
        schedule.receive(shape.leader_of(from), {Area::stage, at(begin)}, at(end) - at(begin));
      });
      for_each_range(shape.node_index, count, nodes, [&](int begin, int end) {
        schedule.send(shape.leader_of(to), {Area::stage, at(begin)}, at(end) - at(begin));
      });
      schedule.complete();
    }
  }
  take_all(shape, schedule);
}

}  // namespace

const Algorithm nodes_allgather_bruck = {"doubling nodes",        Operation::allgather,
                                         &obstacle_between_nodes, &cost,
                                         &largest_gathered,       &plan};
const Algorithm nodes_allgatherv_bruck = {
    "doubling nodes", Operation::allgatherv, &obstacle_between_nodes, &cost, nullptr, &plan};

}  // namespace headrace::collective
