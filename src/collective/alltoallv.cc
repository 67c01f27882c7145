// All to all, each pair with sizes of its own. Small parcels for ranks of the node go through
// memory that they share. All others are messages, turn by turn with one rank after the other, of
// which a bounded number is under way at a time. Nobody needs to know more than its own arguments.
#include "collective/algorithm.h"
#include "collective/parcel_room.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

const char* needs_several_nodes(const Shape& shape, const Call&, const Limits&) {
  return shape.node_count > 1 ? nullptr : "the ranks are on one node";
}

/// Of each rank, where parcels are not empty.
Algorithm::Cost cost(const Shape& shape, const Call&) {
  return {0, static_cast<double>(shape.size - shape.node_size)};
}

void plan(const Shape& shape, const Call&, const Limits& limits, Schedule& schedule) {
  const std::size_t small = pair_room(shape, limits).small;
  schedule.claim();
  schedule.parcels(ParcelAction::put_row, 0, small);
  meet(schedule);
  schedule.parcels(ParcelAction::take_column, 0, small);
  schedule.parcels(ParcelAction::exchange, 0, small);
  schedule.steps.back().count = limits.throttle;
}

}  // namespace

const Algorithm node_alltoallv = {"rows", Operation::alltoallv, &needs_one_node, &no_cost, nullptr,
                                  &plan};
const Algorithm node_alltoallw = {"rows", Operation::alltoallw, &needs_one_node, &no_cost, nullptr,
                                  &plan};
const Algorithm nodes_alltoallv = {
    "throttled", Operation::alltoallv, &needs_several_nodes, &cost, nullptr, &plan};
const Algorithm nodes_alltoallw = {
    "throttled", Operation::alltoallw, &needs_several_nodes, &cost, nullptr, &plan};

}  // namespace headrace::collective
