// All to all on a node: each rank writes what it sends to all, and reads what is for itself.
#include "collective/algorithm.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

std::size_t pairs_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.node_size) * static_cast<std::size_t>(shape.node_size);
}

const char* obstacle(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  return needs_room(pairs_of(shape) * call.bytes, limits);
}

std::size_t largest(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 ? 0 : limits.stage / pairs_of(shape);
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  const auto mine = static_cast<std::size_t>(shape.node_rank);
  const std::size_t row = static_cast<std::size_t>(shape.node_size) * call.bytes;
  schedule.claim();
  schedule.copy_many(shape.node_size, {Area::send, 0}, call.blocks.distance,
                     {Area::stage, mine * row}, call.bytes, call.bytes);
  meet(schedule);
  schedule.copy_many(shape.node_size, {Area::stage, mine * call.bytes}, row, {Area::receive, 0},
                     call.blocks.distance, call.bytes);
}

}  // namespace

const Algorithm node_alltoall = {"rows", Operation::alltoall, &obstacle, &no_cost, &largest, &plan};

}  // namespace headrace::collective
