#include "record/file_timeline.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "record/recorder.h"

namespace headrace::record {

// Signal handlers may be the first of their thread to look: no memory may be taken for these.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadRecord* own_record;

namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local std::int32_t own_number = 0;

const AccessItem& item_of(const AccessCounts& counts) {
  return *reinterpret_cast<const AccessItem*>(reinterpret_cast<const std::byte*>(&counts) -
                                              offsetof(AccessItem, counts));
}

}  // namespace

std::int32_t system_thread() noexcept {
  // gettid() needs glibc 2.30.
  if (own_number == 0) own_number = static_cast<std::int32_t>(::syscall(SYS_gettid));
  return own_number;
}

std::unique_ptr<FileTimeline> FileTimeline::make(ImageFile& image, std::uint64_t bytes) {
  const auto count = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bytes / sizeof(FileEvent), 1, UINT32_MAX / sizeof(FileEvent)));
  ExtentHeader* const head =
      image.take(ExtentKind::file_timeline, kNone, sizeof(FileTimelineItem), 1);
  if (head == nullptr) return nullptr;
  auto* const item = new (head + 1) FileTimelineItem{};
  ExtentHeader* const events = image.take(ExtentKind::file_events, kNone, sizeof(FileEvent), count);
  if (events == nullptr) return nullptr;
  // Places that are not taken yet are zero.
  auto* const first = reinterpret_cast<FileEvent*>(events + 1);
  events->used.store(count, std::memory_order_release);
  head->used.store(1, std::memory_order_release);
  return std::unique_ptr<FileTimeline>(new FileTimeline(*item, {first, count}));
}

/// Who finds a place in use leaves it: another thread, or what this one's signal handler has
/// interrupted, writes an event there that is as recent. Both count as added.
void FileTimeline::add(const Call& call, const AccessCounts& counts) noexcept {
  const std::uint64_t turn = item_.added.fetch_add(1, std::memory_order_relaxed) + 1;
  FileEvent& place = ring_[(turn - 1) % ring_.size()];
  const std::atomic_ref claim(place.turn);
  std::uint64_t before = claim.load(std::memory_order_relaxed);
  if (before > turn ||
      !claim.compare_exchange_strong(before, FileEvent::kIsWritten, std::memory_order_acquire)) {
    return;
  }
  std::atomic_thread_fence(std::memory_order_release);
  const AccessItem& file = item_of(counts);
  place.begin = call.begin;
  place.ticks = call.ticks;
  place.bytes = call.bytes;
  place.offset = call.offset;
  place.name_place = file.name_place;
  place.name_size = static_cast<std::uint16_t>(file.name_size);
  place.region = own_record == nullptr ? 0 : own_record->region();
  place.thread = own_record == nullptr ? kNone : own_record->number();
  place.system_thread = system_thread();
  place.operation = call.operation;
  place.is_on_stream = call.is_on_stream ? 1 : 0;
  claim.store(turn, std::memory_order_release);
}

}  // namespace headrace::record
