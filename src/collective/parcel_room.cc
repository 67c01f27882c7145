#include "collective/parcel_room.h"

#include <algorithm>
#include <cstdint>

namespace headrace::collective {
namespace {

constexpr std::size_t kLine = 64;

/// Whole lines of the cache, but for what is smaller than one.
std::size_t slot_of(std::size_t bytes, std::size_t most) {
  bytes = std::min(bytes, most);
  return bytes < kLine ? 0 : bytes - bytes % kLine;
}

}  // namespace

RootedRoom rooted_room(const Shape& shape, const Limits& limits) {
  // Larger ones take so long that a message more costs little, and a copy less saves more.
  constexpr std::size_t kMost = std::size_t{16} << 10;
  const auto ranks = static_cast<std::size_t>(shape.largest_node);
  RootedRoom room;
  room.slots = (ranks * sizeof(std::uint64_t) + kLine - 1) / kLine * kLine;
  if (room.slots >= limits.stage) return {};
  room.small = slot_of((limits.stage - room.slots) / (2 * ranks), kMost);
  room.messages = room.slots + ranks * room.small;
  room.message_bytes = limits.stage - room.messages;
  return room;
}

std::size_t pair_slot(const Shape& shape, const Limits& limits) {
  constexpr std::size_t kMost = std::size_t{16} << 10;
  const auto ranks = static_cast<std::size_t>(shape.node_size);
  return slot_of(limits.stage / (ranks * ranks), kMost);
}

}  // namespace headrace::collective
