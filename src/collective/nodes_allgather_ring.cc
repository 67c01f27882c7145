// Leaders in a ring: in each turn a leader hands on to the next one what it got in the turn before,
// so all links carry the same, and a message is one node's blocks.
#include "collective/algorithm.h"
#include "collective/allgather.h"

namespace headrace::collective {
namespace {

Algorithm::Cost cost(const Shape& shape, const Call& call) {
  return {missing_bytes(shape, call), static_cast<double>(shape.node_count - 1)};
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  gather_on_node(shape, call, schedule);
  if (shape.is_leader()) {
    const int nodes = shape.node_count;
    const int next = shape.leader_of((shape.node_index + 1) % nodes);
    const int before = shape.leader_of((shape.node_index + nodes - 1) % nodes);
    const auto blocks_of = [&](int node) {
      return bytes_of_places(call.blocks, shape, shape.begin_of(node), shape.begin_of(node + 1));
    };
    std::vector<std::size_t> begins(static_cast<std::size_t>(nodes) + 1);
    for (int node = 0; node < nodes; ++node) {
      const auto i = static_cast<std::size_t>(node);
      begins[i + 1] = begins[i] + blocks_of(node);
    }
    for (int turn = 0; turn < nodes - 1; ++turn) {
      const auto out = static_cast<std::size_t>((shape.node_index + nodes - turn) % nodes);
      const auto in = static_cast<std::size_t>((shape.node_index + nodes - turn - 1) % nodes);
      schedule.receive(before, {Area::stage, begins[in]}, begins[in + 1] - begins[in]);
      schedule.send(next, {Area::stage, begins[out]}, begins[out + 1] - begins[out]);
      schedule.complete();
    }
  }
  take_all(shape, schedule);
}

}  // namespace

const Algorithm nodes_allgather_ring = {"ring of nodes",         Operation::allgather,
                                        &obstacle_between_nodes, &cost,
                                        &largest_gathered,       &plan};
const Algorithm nodes_allgatherv_ring = {
    "ring of nodes", Operation::allgatherv, &obstacle_between_nodes, &cost, nullptr, &plan};

}  // namespace headrace::collective
