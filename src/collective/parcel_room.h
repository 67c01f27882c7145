#pragma once

#include <cstddef>

#include "collective/call.h"
#include "collective/shape.h"

// How the stage is divided in calls with parcels: what is small has room there.

namespace headrace::collective {

/// Calls with a root: sizes of the node's small parcels, a place for these, and one for messages.
struct RootedRoom {
  std::size_t small = 0;     ///< bytes of a parcel that is small; on all nodes the same
  std::size_t slots = 0;     ///< where the node's own begin
  std::size_t messages = 0;  ///< where what is sent to or comes from other nodes begins
  std::size_t message_bytes = 0;
};
RootedRoom rooted_room(const Shape& shape, const Limits& limits);

/// All to all on a node: bytes of a slot, of which each pair of ranks has two.
std::size_t pair_slot(const Shape& shape, const Limits& limits);

}  // namespace headrace::collective
