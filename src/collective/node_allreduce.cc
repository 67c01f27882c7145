// Sums and the like on a node, in rank order: each rank's result is that of all others, bit by bit.
#include "collective/algorithm.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

std::size_t ranks_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.node_size);
}

const char* obstacle_of_each(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  if (call.bytes > kMostForOne) return "ranks had better divide the work";
  return needs_room(ranks_of(shape) * call.bytes, limits);
}

void plan_each(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  give_row(shape, call, schedule);
  schedule.reduce(shape.node_size, {Area::stage, 0}, call.bytes, {Area::receive, 0}, call.bytes);
}

const char* obstacle_of_shared(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  if (call.bytes <= kMostForOne) return "it is too small to be divided";
  return needs_room(rows_and_sums(shape) * call.bytes, limits);
}

void plan_shared(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  give_row(shape, call, schedule);
  const std::size_t sums = add_up_rows(shape, call, schedule);
  schedule.await_all(2);
  schedule.copy({Area::stage, sums}, {Area::receive, 0}, call.bytes);
}

}  // namespace

const Algorithm node_allreduce_each = {
    "each", Operation::allreduce, &obstacle_of_each, &no_cost, nullptr, &plan_each};
const Algorithm node_allreduce_shared = {"divided", Operation::allreduce,  &obstacle_of_shared,
                                         &no_cost,  &largest_rows_on_node, &plan_shared};

}  // namespace headrace::collective
