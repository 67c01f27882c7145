// Scattering from a root: gathering in the other direction. The root sends the leader of each other
// node one message with all small parcels of that node. Whether one comes the leader knows from
// what the node's ranks expect, and how large each parcel is all of them learn from the message.
#include "collective/algorithm.h"
#include "collective/parcel_room.h"
#include "collective/requirements.h"

namespace headrace::collective {
namespace {

/// The root's: it sends to all others.
Algorithm::Cost cost(const Shape& shape, const Call& call) {
  const double others = shape.node_count - 1;
  return {static_cast<double>(call.bytes) * shape.size * others / shape.node_count, others};
}

void plan(const Shape& shape, const Call& call, const Limits& limits, Schedule& schedule) {
  const RootedRoom room = rooted_room(shape, limits);
  const bool is_root = shape.rank == call.root;
  const int head = head_of_node(shape, call);
  const auto add = [&](ParcelAction action, std::size_t from, std::size_t to, std::size_t bytes) {
    schedule.parcels(action, call.root, room.small, from, to, bytes);
  };
  schedule.claim();
  add(ParcelAction::announce, 0, 0, 0);
  meet(schedule);
  if (is_root) {
    add(ParcelAction::lay_out, 0, room.slots, room.messages - room.slots);
  } else if (shape.node_rank == head) {
    add(ParcelAction::receive_node, 0, room.slots, room.messages - room.slots);
    schedule.complete();
  }
  if (shape.node_rank == head) {
    schedule.reach(2, fabric::Milestones::Audience::whoever);
  } else {
    schedule.await(head, 2);
  }
  add(ParcelAction::take, room.slots, 0, 0);
  add(ParcelAction::receive_own, room.slots, 0, 0);
  if (is_root) {
    add(ParcelAction::send_own, 0, 0, 0);
    add(ParcelAction::deal, 0, room.messages, room.message_bytes);
  }
  schedule.complete();
}

}  // namespace

const Algorithm node_scatter = {
    "slots", Operation::scatter, &needs_parcels_on_node, &no_cost, nullptr, &plan};
const Algorithm node_scatterv = {
    "slots", Operation::scatterv, &needs_parcels_on_node, &no_cost, nullptr, &plan};
const Algorithm nodes_scatter = {
    "leaders", Operation::scatter, &needs_parcels_between, &cost, nullptr, &plan};
const Algorithm nodes_scatterv = {
    "leaders", Operation::scatterv, &needs_parcels_between, &cost, nullptr, &plan};

}  // namespace headrace::collective
