// Gathering to a root. Small parcels meet in memory that a node's ranks share, from where the root
// takes those of its node, and leaders of other nodes send theirs as one message. Ranks with more
// send it by themselves. So nobody has to know the sizes of others but the root, which does: it
// knows which messages come. It goes by the sizes in them.
#include "collective/algorithm.h"
#include "collective/parcel_room.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

Algorithm::Cost cost(const Shape& shape, const Call& call) {
  return {static_cast<double>(call.bytes) * shape.size / shape.node_count, 1};
}

void plan(const Shape& shape, const Call& call, const Limits& limits, Schedule& schedule) {
  const RootedRoom room = rooted_room(shape, limits);
  schedule.claim();
  schedule.parcels(ParcelAction::put, call.root, room.small, 0, room.slots);
  // Whoever does not wait for others cannot learn that one of them leaves the call to the library.
  meet(schedule);
  if (shape.is_leader() && shape.place_on_node(call.root) < 0) {
    schedule.parcels(ParcelAction::send_node, call.root, room.small, room.slots, room.messages,
                     room.message_bytes);
  }
  schedule.parcels(ParcelAction::send_own, call.root, room.small);
  if (shape.rank == call.root) {
    schedule.parcels(ParcelAction::collect, call.root, room.small, room.slots, room.messages,
                     room.message_bytes);
  }
  schedule.complete();
}

}  // namespace

const Algorithm node_gather = {"slots",  Operation::gather, &needs_parcels_on_node,
                               &no_cost, nullptr,           &plan};
const Algorithm node_gatherv = {
    "slots", Operation::gatherv, &needs_parcels_on_node, &no_cost, nullptr, &plan};
const Algorithm nodes_gather = {"leaders", Operation::gather, &needs_parcels_between,
                                &cost,     nullptr,           &plan};
const Algorithm nodes_gatherv = {
    "leaders", Operation::gatherv, &needs_parcels_between, &cost, nullptr, &plan};

}  // namespace headrace::collective
