#pragma once

#include <cstddef>

#include "collective/call.h"
#include "collective/shape.h"

// How the stage is divided in calls with parcels: what is small has room there.

namespace headrace::collective {

/// Calls with a root: sizes of the node's parcels, a place for the small ones, and one for messages
/// (node_message.h). Each of the two places has room for a whole message of one node.
struct RootedRoom {
  std::size_t small = 0;     ///< bytes of a parcel that is small; on all nodes the same
  std::size_t slots = 0;     ///< where the node's own begin
  std::size_t messages = 0;  ///< where what is sent to or comes from other nodes begins
  std::size_t message_bytes = 0;
};
RootedRoom rooted_room(const Shape& shape, const Limits& limits);

/// All to all on a node: each pair of ranks has two slots, each with the size of what was sent, and
/// with the parcel if it is small.
struct PairRoom {
  std::size_t small = 0;
  std::size_t slot = 0;  ///< bytes; 0: there are none
};
inline constexpr std::size_t kPairHeader = sizeof(std::size_t);
PairRoom pair_room(const Shape& shape, const Limits& limits);

}  // namespace headrace::collective
