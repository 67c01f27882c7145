// A broadcast along a tree of nodes, for shapes on which libraries send a node its data more than
// once. The root, or another node's leader, speaks for its node: it gets the data once, hands it on
// to the nodes below it, and its node's ranks read it in shared memory.
#include <vector>

#include "collective/algorithm.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

bool is_regular(const Shape& shape) {
  return shape.is_in_order() && shape.size == shape.largest_node * shape.node_count;
}

const char* obstacle(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  if (is_regular(shape)) return "the library sends it to each node once, too";
  return needs_room(call.bytes, limits);
}

Algorithm::Cost cost(const Shape& shape, const Call& call) {
  const double messages = 1 - 1.0 / shape.node_count;
  return {messages * static_cast<double>(call.bytes), messages};
}

std::size_t largest(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 && !is_regular(shape) ? limits.stage : 0;
}

/// The binomial tree of nodes, as a node sees it. Nodes are numbered from the root's on.
struct Place {
  int parent = -1;            ///< a node; -1: none
  std::vector<int> children;  ///< nodes, that with most below it first
};

Place place_in_tree(int node, int root_node, int count) {
  const int number = (node - root_node + count) % count;
  const auto node_of = [&](int of) { return (of + root_node) % count; };
  Place place;
  int bit = 1;
  while (bit < count && (number & bit) == 0) bit *= 2;
  if (bit < count) place.parent = node_of(number - bit);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (number + bit < count) place.children.push_back(node_of(number + bit));
  }
  return place;
}

/// The one that speaks for this node gets the data, and hands it on.
void hand_on(const Shape& shape, const Call& call, Schedule& schedule) {
  const int root_node = shape.node_of(call.root);
  const Place place = place_in_tree(shape.node_index, root_node, shape.node_count);
  const auto head_of = [&](int node) {
    return node == root_node ? call.root : shape.leader_of(node);
  };
  Position from{Area::send, 0};
  if (place.parent >= 0) {
    from = {Area::stage, 0};
    schedule.receive(head_of(place.parent), from, call.bytes);
    schedule.complete();
    schedule.reach(2, fabric::Milestones::Audience::whoever);
  }
  for (const int child : place.children) schedule.send(head_of(child), from, call.bytes);
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  const bool is_root = shape.rank == call.root;
  const int head = head_of_node(shape, call);
  const bool is_head = shape.node_rank == head;
  if (is_head) schedule.claim();
  if (is_root) schedule.copy({Area::send, 0}, {Area::stage, 0}, call.bytes);
  // Whoever does not wait for others cannot learn that one of them leaves the call to the library.
  meet(schedule);
  if (is_head) {
    hand_on(shape, call, schedule);
  } else if (shape.place_on_node(call.root) < 0) {
    schedule.await(head, 2);
  }
  if (!is_root) schedule.copy({Area::stage, 0}, {Area::receive, 0}, call.bytes);
  if (is_head) schedule.complete();
}

}  // namespace

const Algorithm nodes_bcast = {"tree of nodes", Operation::bcast, &obstacle,
                               &cost,           &largest,         &plan};

}  // namespace headrace::collective
