#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "record/image_file.h"

namespace headrace::record {

/// Memory for the events of all threads of this rank. When it is spent, the part that was filled
/// first is given out again, so the latest events of the rank stay. Thread-safe.
class TimelineMemory {
 public:
  static constexpr std::uint32_t kEventsAtATime = 340;  ///< 16 KiB

  /// May throw std::bad_alloc. `bytes`: the most that it takes.
  TimelineMemory(ImageFile& image, std::uint64_t bytes);

  /// An empty part for a thread, in exchange for the one that it has filled, or null. Null if there
  /// is none: other threads have them all and fill them, or this is a forked child.
  ExtentHeader* exchange(ExtentHeader* full, std::uint32_t thread) noexcept;

 private:
  ExtentHeader* oldest() noexcept;

  ImageFile& image_;
  const std::size_t most_;  ///< parts
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::vector<ExtentHeader*> full_;  ///< a ring, in the order in which they were filled
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace headrace::record
