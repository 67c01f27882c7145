#pragma once

#include <cstddef>
#include <cstdint>

/// For functions that read words between the variables of others, which the address sanitizer
/// takes for a mistake.
#define HEADRACE_READS_STACK [[gnu::no_sanitize("address")]]

namespace headrace::record {

inline constexpr int kMostFrames = 64;

/// One frame, as its return address lies on the stack.
struct StackFrame {
  std::uint32_t words = 0;  ///< from the slot of the innermost return address to this one's
  std::uintptr_t return_address = 0;

  bool operator==(const StackFrame&) const = default;
};

/// A saved frame pointer that tells where a frame ends, whatever it measures.
struct StackLink {
  std::int32_t words = 0;       ///< from the slot of the innermost return address to this word
  std::int32_t frame = 0;       ///< the frame whose end it tells, by its number in the walk
  std::uintptr_t distance = 0;  ///< from that slot to where the word points, in bytes
};

/// Frames of a stack, innermost first.
struct StackWalk {
  int depth = 0;
  int link_count = 0;
  StackFrame frames[kMostFrames];
  StackLink links[2 * kMostFrames];
};

/// How far a thread may read its own stack. Frames further out lie at higher addresses.
class ThreadStack {
 public:
  /// Asks for the bounds of the calling thread's stack. Some microseconds.
  void learn() noexcept;

  /// Whether the bounds are those of a stack that holds `slot`. They are not on a signal stack or
  /// a fiber's.
  bool holds(const std::uintptr_t* slot) const noexcept { return slot >= begin_ && slot < end_; }

  /// Behind the last word that may be read, if `slot` may be. Of a stack that is not known, that
  /// is the end of a page: what lies behind may be unmapped at any time.
  const std::uintptr_t* readable_end(const std::uintptr_t* slot) const noexcept {
    if (holds(slot)) [[likely]]
      return end_;
    return reinterpret_cast<const std::uintptr_t*>(
        (reinterpret_cast<std::uintptr_t>(slot) | (kPage - 1)) + 1);
  }

 private:
  static constexpr std::uintptr_t kPage = 4096;  // the least of any machine
  const std::uintptr_t* begin_ = nullptr;
  const std::uintptr_t* end_ = nullptr;
};

/// Unwinds the calling thread's stack from the frame whose return address lies in `return_slot`,
/// `depth` frames at most. The first is always that one. The walk ends before a frame whose return
/// address is not found on the stack where it should be: the frame that a signal interrupted, one
/// on another stack, one without unwind tables. On a stack that is not the thread's own (a fiber's,
/// a signal's) it has the first frame only. A microsecond.
void walk_stack(const std::uintptr_t* return_slot, int depth, const ThreadStack& stack,
                StackWalk& walk) noexcept;

}  // namespace headrace::record
