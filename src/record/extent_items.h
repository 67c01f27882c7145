#pragma once

#include <atomic>
#include <cstdint>

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

inline void publish(ExtentHeader* extent) {
  extent->used.store(extent->used.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace headrace::record
