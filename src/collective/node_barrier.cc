// A barrier on a node: each rank says that it has come, and looks until all have.
#include "collective/algorithm.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

void plan(const Shape&, const Call&, const Limits&, Schedule& schedule) {
  meet(schedule);
}

}  // namespace

const Algorithm node_barrier = {"flags", Operation::barrier, &needs_one_node, &no_cost, nullptr,
                                &plan};

}  // namespace headrace::collective
