#include "record/thread_timeline.h"

#include <sys/timex.h>

#include <functional>
#include <new>

#include "record/file_timeline.h"

namespace headrace::record {
namespace {

/// By how many ns the kernel says that CLOCK_REALTIME may be wrong; -1 if nobody sets it.
std::int64_t clock_error() {
  constexpr std::int64_t kNsOfUs = 1000;
  timex asked{};
  const int state = adjtimex(&asked);
  if (state < 0 || state == TIME_ERROR || (asked.status & STA_UNSYNC) != 0) return -1;
  return std::int64_t{asked.maxerror} * kNsOfUs;
}

}  // namespace

std::unique_ptr<ThreadTimeline> ThreadTimeline::make(ImageFile& image, TimelineMemory& memory,
                                                     std::uint32_t thread) {
  ExtentHeader* const extent = image.take(ExtentKind::timeline, thread, sizeof(TimelineItem), 1);
  if (extent == nullptr) return nullptr;
  auto* const item = new (extent + 1) TimelineItem{};
  item->clock_error = clock_error();
  item->system_thread = system_thread();
  extent->used.store(1, std::memory_order_release);
  return std::unique_ptr<ThreadTimeline>(new ThreadTimeline(*item, memory, thread));
}

void ThreadTimeline::change_thread() noexcept {
  item_.open_calls.store(0, std::memory_order_relaxed);
  item_.system_thread = system_thread();
}

/// Stacks grow downwards: a call within another has the lower frame.
void ThreadTimeline::enter(std::uint32_t procedure, std::int64_t now, const void* frame) noexcept {
  std::uint32_t depth = item_.open_calls.load(std::memory_order_relaxed);
  while (depth > 0 && std::less_equal<>()(frames_[depth - 1], frame)) --depth;
  if (depth < kMostOpenCalls) {
    item_.open_calls.store(depth, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    item_.calls[depth] = {now, procedure, 0};
    frames_[depth++] = frame;
  }
  item_.open_calls.store(depth, std::memory_order_release);
}

void ThreadTimeline::leave(const void* frame) noexcept {
  std::uint32_t depth = item_.open_calls.load(std::memory_order_relaxed);
  while (depth > 0 && std::less<>()(frames_[depth - 1], frame)) --depth;
  if (depth > 0 && frames_[depth - 1] == frame) --depth;
  item_.open_calls.store(depth, std::memory_order_relaxed);
}

/// A thread that got no part asks again now and then: each time takes a lock.
bool ThreadTimeline::make_room() noexcept {
  constexpr std::uint32_t kBetween = 256;
  if (part_ == nullptr && refused_++ % kBetween != 0) return false;
  part_ = memory_.exchange(part_, thread_);
  return part_ != nullptr;
}

Event& ThreadTimeline::add(const Event& event) noexcept {
  item_.added += 1;  // what is not kept, too
  if ((part_ == nullptr || part_->used.load(std::memory_order_relaxed) == part_->capacity) &&
      !make_room()) [[unlikely]] {
    return unkept_;
  }
  const std::uint32_t used = part_->used.load(std::memory_order_relaxed);
  Event* const place = new (reinterpret_cast<Event*>(part_ + 1) + used) Event(event);
  part_->used.store(used + 1, std::memory_order_release);
  return *place;
}

void ThreadTimeline::begin_regions_at(std::int64_t begin) noexcept {
  const std::uint32_t open = item_.open_regions.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < open; ++i) item_.regions[i].begin = begin;
}

void ThreadTimeline::follow_regions(std::size_t depth, std::uint32_t region, std::int64_t now,
                                    bool keeps) noexcept {
  std::uint32_t own = item_.open_regions.load(std::memory_order_relaxed);
  if (depth > own && own < kMostOpenRegions) {
    item_.regions[own] = {now, region, 0};
    item_.open_regions.store(own + 1, std::memory_order_release);
    return;
  }
  while (own > depth) {
    const OpenEvent ended = item_.regions[--own];
    item_.open_regions.store(own, std::memory_order_release);
    if (keeps) add({ended.begin, now - ended.begin, kNone, kNone, ended.note, kNoPeer, 0, 0});
  }
}

}  // namespace headrace::record
