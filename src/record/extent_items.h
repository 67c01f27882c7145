#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "record/image_file.h"

/// How extents of an image are filled, each by one thread at a time.
namespace headrace::record {

/// Room for the next item, in `extent` or, where that is full, in a new one that takes its place.
/// It counts once it is published. Null without room.
template <class Item>
Item* take_item(ImageFile& image, ExtentHeader*& extent, ExtentKind kind, std::uint32_t thread,
                std::uint32_t at_a_time) {
  if (extent == nullptr || extent->used.load(std::memory_order_relaxed) == extent->capacity) {
    ExtentHeader* const more = image.take(kind, thread, sizeof(Item), at_a_time);
    if (more == nullptr) return nullptr;
    extent = more;
  }
  return reinterpret_cast<Item*>(extent + 1) + extent->used.load(std::memory_order_relaxed);
}

/// Takes what other ranks of the node read: one item, of which `place` says where it lies in the
/// image. Null without room.
template <class Logs>
Logs* take_logs(ImageFile& image, ExtentKind kind, std::uint64_t& place) {
  ExtentHeader* const extent = image.take(kind, kNone, sizeof(Logs), 1);
  if (extent == nullptr) return nullptr;
  auto* const logs = new (extent + 1) Logs{};
  place = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(logs) -
                                     reinterpret_cast<std::byte*>(&image.header()));
  return logs;
}

inline void publish(ExtentHeader* extent) {
  extent->used.store(extent->used.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace headrace::record
