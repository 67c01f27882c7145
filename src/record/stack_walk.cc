#include "record/stack_walk.h"

#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>

#include "base/kept_errno.h"

namespace headrace::record {
namespace {

constexpr int kMostInnerFrames = 64;  // of ours, below the slot where a walk begins
constexpr int kFramePointer = 6;      // of x86-64, as DWARF numbers registers
constexpr std::int32_t kPushed = 6;   // registers that a function has to keep
constexpr std::int32_t kNotSaved = INT32_MIN;
constexpr std::ptrdiff_t kMostWords = 1U << 30;

struct Walking {
  const std::uintptr_t* slot;
  int depth;
  const ThreadStack& stack;
  StackWalk& walk;
  int inner_frames = 0;
  std::uintptr_t frame_pointers[kMostFrames];
};

HEADRACE_READS_STACK [[maybe_unused]] bool holds_address(const Walking& walking,
                                                         const std::uintptr_t* slot,
                                                         std::uintptr_t address) {
  return walking.stack.holds(slot) && *slot == address;
}

// The context of a frame has the stack pointer as it is when the frame goes on. On x86-64 the
// return address to it then lies one word below. (The unwinder calls that value the CFA, which it
// is: the inner frame's.)
[[maybe_unused]] _Unwind_Reason_Code take_frame(_Unwind_Context* context, void* argument) {
  Walking& walking = *static_cast<Walking*>(argument);
  StackWalk& walk = walking.walk;
  const auto* slot = reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(context)) - 1;
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (walk.depth == 0) {
    if (slot != walking.slot) {
      return ++walking.inner_frames < kMostInnerFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
    }
  } else {
    const std::ptrdiff_t last = walk.frames[walk.depth - 1].words;
    const std::ptrdiff_t words = slot - walking.slot;
    if (words <= last || words >= kMostWords) return _URC_END_OF_STACK;
  }
  if (address == 0 || !holds_address(walking, slot, address)) return _URC_END_OF_STACK;
  walking.frame_pointers[walk.depth] = _Unwind_GetGR(context, kFramePointer);
  walk.frames[walk.depth++] = {static_cast<std::uint32_t>(slot - walking.slot), address};
  return walk.depth < walking.depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// Where an inner frame keeps the frame pointer of frame `of`: among the registers that it pushed
// first. The innermost function, which is ours, has a frame pointer of its own and pushed only
// this.
HEADRACE_READS_STACK [[maybe_unused]] std::int32_t place_saved(const Walking& walking, int of) {
  const StackFrame* const frames = walking.walk.frames;
  for (int inner = of; inner >= 0; --inner) {
    const auto top = static_cast<std::int32_t>(frames[inner].words);
    const std::int32_t bottom =
        inner == 0
            ? -1
            : std::max(top - kPushed, static_cast<std::int32_t>(frames[inner - 1].words) + 1);
    for (std::int32_t at = top - 1; at >= bottom; --at) {
      if (walking.slot[at] == walking.frame_pointers[of]) return at;
    }
  }
  return kNotSaved;
}

// A frame of changing size is measured from its frame pointer, which an inner frame has saved.
// Frames that are aligned hold the address of their end below the place where the frame pointer
// points (GCC's DRAP).
HEADRACE_READS_STACK [[maybe_unused]] void take_links(const Walking& walking) {
  StackWalk& walk = walking.walk;
  const std::uintptr_t* const slot = walking.slot;
  const auto begin = reinterpret_cast<std::uintptr_t>(slot);
  for (int i = 0; i + 1 < walk.depth; ++i) {
    const std::uintptr_t distance = walking.frame_pointers[i] - begin;
    const std::uintptr_t end = std::uintptr_t{walk.frames[i + 1].words} * sizeof *slot;
    if (distance % sizeof *slot != 0 || distance >= end) continue;
    if (distance <= walk.frames[i].words * sizeof *slot) continue;
    const std::int32_t saved = place_saved(walking, i);
    if (saved == kNotSaved) continue;
    walk.links[walk.link_count++] = {saved, i, distance};
    const auto held = static_cast<std::int32_t>(distance / sizeof *slot) - 1;
    const std::uintptr_t behind = end + sizeof *slot;
    if (slot[held] - begin == behind) walk.links[walk.link_count++] = {held, i, behind};
  }
}

}  // namespace

void ThreadStack::learn() noexcept {
  const KeptErrno kept;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    begin_ = static_cast<const std::uintptr_t*>(lowest);
    end_ = begin_ + size / sizeof(std::uintptr_t);
  }
  ::pthread_attr_destroy(&attributes);
}

void walk_stack(const std::uintptr_t* return_slot, int depth, const ThreadStack& stack,
                StackWalk& walk) noexcept {
  walk.depth = 0;
  walk.link_count = 0;
#if defined(__x86_64__)
  Walking walking{return_slot, depth < kMostFrames ? depth : kMostFrames, stack, walk, 0, {}};
  // On a stack of the program's own making the outermost return address may be anything, and the
  // unwinder reads the code there: the call site alone.
  if (walking.depth > 1 && stack.holds(return_slot)) _Unwind_Backtrace(&take_frame, &walking);
  take_links(walking);
#else
  // Elsewhere a return address has no fixed place in its frame, and may be signed (AArch64): the
  // call site alone.
  (void)depth;
  (void)stack;
#endif
  if (walk.depth == 0) {
    walk.frames[0] = {0, *return_slot};
    walk.depth = 1;
  }
}

}  // namespace headrace::record
