// Sums and the like at a root. A node's ranks divide the work of adding up what they give, in rank
// order. Between nodes what is added up goes along a tree: each node adds those of the nodes below
// it to its own. So the order depends on the shape and on the root alone.
#include "collective/algorithm.h"
#include "collective/node_tree.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

const char* obstacle_on_node(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  return needs_room(rows_and_sums(shape) * call.bytes, limits);
}

void plan_on_node(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  give_row(shape, call, schedule);
  const bool is_root = shape.rank == call.root;
  if (call.bytes <= kMostForOne) {
    if (is_root) {
      schedule.reduce(shape.node_size, {Area::stage, 0}, call.bytes, {Area::receive, 0},
                      call.bytes);
    }
    return;
  }
  const std::size_t sums = add_up_rows(shape, call, schedule);
  if (!is_root) return;
  schedule.await_all(2);
  schedule.copy({Area::stage, sums}, {Area::receive, 0}, call.bytes);
}

/// What the ranks of a node give, its sums, and those of the nodes below it. The root has most of
/// these; another node has one less at least, and so room for what it sends on.
std::size_t rows_between(const Shape& shape) {
  return static_cast<std::size_t>(shape.largest_node + 1 + most_children(shape.node_count));
}

const char* obstacle_between(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const none = needs_nodes_of_ranks(shape)) return none;
  return needs_room(rows_between(shape) * call.bytes, limits);
}

std::size_t largest_between(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 ? limits.stage / rows_between(shape) : 0;
}

void plan_between(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  give_row(shape, call, schedule);
  const std::size_t sums = add_up_rows(shape, call, schedule);
  if (shape.node_rank != head_of_node(shape, call)) return;
  const NodeTree tree = node_tree(shape, call.root);
  const std::size_t children = tree.children.size();
  for (std::size_t i = children; i-- > 0;) {
    schedule.receive(tree.children[i], {Area::stage, sums + (i + 1) * call.bytes}, call.bytes);
  }
  schedule.await_all(2);
  schedule.complete();
  const bool is_root = tree.parent < 0;
  Position result{Area::stage, sums};
  if (is_root) result = {Area::receive, 0};
  if (!is_root && children > 0) result.offset += (children + 1) * call.bytes;
  if (is_root || children > 0) {
    schedule.reduce(static_cast<int>(children) + 1, {Area::stage, sums}, call.bytes, result,
                    call.bytes);
  }
  if (is_root) return;
  schedule.send(tree.parent, result, call.bytes);
  schedule.complete();
}

}  // namespace

const Algorithm node_reduce = {"shared", Operation::reduce,     &obstacle_on_node,
                               &no_cost, &largest_rows_on_node, &plan_on_node};
const Algorithm nodes_reduce = {"tree of nodes",
                                Operation::reduce,
                                &obstacle_between,
                                &cost_of_tree,
                                &largest_between,
                                &plan_between,
                                true};

}  // namespace headrace::collective
