// Gathering to all on one node.
#include "collective/algorithm.h"
#include "collective/allgather.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

const char* obstacle(const Shape& shape, const Call& call, const Limits& limits) {
  if (const char* const several = needs_one_node(shape, call, limits)) return several;
  return needs_room(total_bytes(shape, call), limits);
}

void plan(const Shape& shape, const Call& call, const Limits&, Schedule& schedule) {
  gather_on_node(shape, call, schedule);
  take_all(shape, schedule);
}

}  // namespace

const Algorithm node_allgather = {"shared", Operation::allgather, &obstacle,
                                  &no_cost, &largest_gathered,    &plan};
const Algorithm node_allgatherv = {"shared", Operation::allgatherv, &obstacle, &no_cost, nullptr,
                                   &plan};

}  // namespace headrace::collective
