// A broadcast along a tree of nodes. Who speaks for a node gets the data once, and hands it on to
// the nodes below; the node's ranks read it in shared memory.
#include "collective/algorithm.h"
#include "collective/node_tree.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

const char* obstacle(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  return needs_room(call.bytes, limits);
}

std::size_t largest(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 ? limits.stage : 0;
}

void hand_on(const Shape& shape, const Call& call, Schedule& schedule) {
  const NodeTree tree = node_tree(shape, call.root);
  Position from{Area::send, 0};
  if (tree.parent >= 0) {
    from = {Area::stage, 0};
    schedule.receive(tree.parent, from, call.bytes);
    schedule.complete();
    schedule.reach(2, fabric::Milestones::Audience::whoever);
  }
  for (const int child : tree.children) schedule.send(child, from, call.bytes);
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

const Algorithm nodes_bcast = {
    "tree of nodes", Operation::bcast, &obstacle, &cost_of_tree, &largest, &plan, true};

}  // namespace headrace::collective
