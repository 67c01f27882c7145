#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "record/image_file.h"
#include "record/timeline_memory.h"

namespace headrace::record {

/// What one thread does, event by event, in the image (HEADRACE_TIMELINE). Only that thread calls
/// it. A forked child must not.
class ThreadTimeline {
 public:
  /// Null if the image has no room. `memory` must live as long.
  static std::unique_ptr<ThreadTimeline> make(ImageFile& image, TimelineMemory& memory,
                                              std::uint32_t thread);

  /// A call begins. `frame` lies in the stack frame of its wrapper: a call that was left by an
  /// exception or a jump is known by it.
  void enter(std::uint32_t procedure, std::int64_t now, const void* frame) noexcept;
  /// That call returns.
  void leave(const void* frame) noexcept;

  /// Adds an event that has ended. It may be changed until the next one is added.
  Event& add(const Event& event) noexcept;

  /// The thread is in so many regions now, the innermost of which is `region`: one more or less
  /// than before, or none. `keeps`: those that have ended become events.
  void follow_regions(std::size_t depth, std::uint32_t region, std::int64_t now,
                      bool keeps) noexcept;

  /// Those that are open have been so since then.
  void begin_regions_at(std::int64_t begin) noexcept;

  /// This thread, another one, takes it over.
  void change_thread() noexcept;

 private:
  ThreadTimeline(TimelineItem& item, TimelineMemory& memory, std::uint32_t thread)
      : item_(item), memory_(memory), thread_(thread) {}
  bool make_room() noexcept;

  TimelineItem& item_;
  TimelineMemory& memory_;
  const std::uint32_t thread_;
  ExtentHeader* part_ = nullptr;
  std::uint32_t refused_ = 0;  ///< events since there was no part
  std::array<const void*, kMostOpenCalls> frames_{};
  Event unkept_{};  ///< there is no room for it
};

}  // namespace headrace::record
