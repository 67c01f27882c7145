// A broadcast on a node: the root writes once, and leaves; all others read.
#include "collective/algorithm.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

const char* obstacle(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  return needs_room(call.bytes, limits);
}

std::size_t largest(const Shape& shape, const Limits& limits) {
  return shape.node_count > 1 ? 0 : limits.stage;
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  schedule.meets = false;
  if (shape.rank == call.root) {
    schedule.claim();
    schedule.copy({Area::send, 0}, {Area::stage, 0}, call.bytes);
    schedule.reach(1, fabric::Milestones::Audience::whoever);
    return;
  }
  schedule.await(call.root, 1);  // one node: places are ranks
  schedule.copy({Area::stage, 0}, {Area::receive, 0}, call.bytes);
  schedule.reach(kLastPhase, fabric::Milestones::Audience::reuse);
}

}  // namespace

const Algorithm node_bcast = {"shared", Operation::bcast, &obstacle, &no_cost, &largest, &plan};

}  // namespace headrace::collective
