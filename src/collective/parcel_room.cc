#include "collective/parcel_room.h"

#include <algorithm>

#include "collective/node_message.h"

namespace headrace::collective {
namespace {

constexpr std::size_t kLine = 64;
/// Larger ones take so long that a message more costs little, and a copy less saves more.
constexpr std::size_t kMost = std::size_t{16} << 10;

constexpr std::size_t whole_lines(std::size_t bytes) {
  return bytes - bytes % kLine;
}

}  // namespace

RootedRoom rooted_room(const Shape& shape, const Limits& limits) {
  const auto ranks = static_cast<std::size_t>(shape.largest_node);
  const std::size_t sizes = whole_lines(NodeMessage::header(shape.largest_node) + kLine - 1);
  if (3 * sizes >= limits.stage) return {};
  RootedRoom room;
  room.slots = sizes;
  room.small = whole_lines(std::min((limits.stage - 3 * sizes) / (2 * ranks), kMost));
  room.messages = room.slots + sizes + ranks * room.small;
  room.message_bytes = limits.stage - room.messages;
  return room;
}

PairRoom pair_room(const Shape& shape, const Limits& limits) {
  const auto ranks = static_cast<std::size_t>(shape.node_size);
  const std::size_t slot = whole_lines(std::min(limits.stage / (ranks * ranks), kMost + kLine));
  return slot == 0 ? PairRoom() : PairRoom{slot - kPairHeader, slot};
}

}  // namespace headrace::collective
