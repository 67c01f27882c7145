#include "record/timeline_memory.h"

#include <algorithm>
#include <atomic>

#include "base/no_cancellation.h"

namespace headrace::record {
namespace {

constexpr std::uint64_t kBytesOfPart =
    sizeof(ExtentHeader) + TimelineMemory::kEventsAtATime * sizeof(Event);
static_assert(kBytesOfPart <= 16384);

}  // namespace

TimelineMemory::TimelineMemory(ImageFile& image, std::uint64_t bytes)
    : image_(image), most_(std::max<std::size_t>(bytes / kBytesOfPart, 1)), full_(most_, nullptr) {}

ExtentHeader* TimelineMemory::oldest() noexcept {
  if (count_ == 0) return nullptr;
  ExtentHeader* const part = full_[first_];
  first_ = (first_ + 1) % most_;
  --count_;
  return part;
}

ExtentHeader* TimelineMemory::exchange(ExtentHeader* full, std::uint32_t thread) noexcept {
  if (!image_.is_ours()) return nullptr;
  const NoCancellation uncancelled;
  const std::lock_guard lock(mutex_);
  if (full != nullptr) full_[(first_ + count_++) % most_] = full;
  if (taken_ < most_) {
    ExtentHeader* const fresh =
        image_.take(ExtentKind::events, thread, sizeof(Event), kEventsAtATime);
    if (fresh != nullptr) {
      ++taken_;
      return fresh;
    }
  }
  ExtentHeader* const part = oldest();
  if (part == nullptr) return nullptr;
  // Whatever ends the process in between, no event counts that is another thread's or half written.
  part->turn.fetch_add(1, std::memory_order_relaxed);
  part->used.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  part->thread = thread;
  return part;
}

}  // namespace headrace::record
