#include "record/call_cost.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "record/thread_record.h"

namespace headrace::record {
namespace {

constexpr int kCalls = 300;
constexpr std::uint64_t kScratch = std::uint64_t{256} << 10;

/// As a wrapper does it, around nothing.
[[gnu::noinline]] void record_call(ThreadRecord& thread) {
  PathEnd& path =
      thread.find_path(static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1, 0);
  const std::int64_t begin = ticks();
  const OpenCall::Outer outer =
      thread.open_call().enter(0, path.id, begin, __builtin_frame_address(0));
  ThreadTimeline* const line = thread.timeline();
  if (line != nullptr) line->enter(0, begin, __builtin_frame_address(0));
  const std::int64_t end = ticks();
  thread.open_call().leave(outer);
  thread.add_call(thread.row(path, 0, CallClass::other, 0), begin, end);
  if (line == nullptr) return;
  line->leave(__builtin_frame_address(0));
  line->add({begin, end - begin, 0, kNone, thread.region(), kNoPeer, 0, 0});
}

}  // namespace

std::int64_t measure_call_cost(std::span<const std::string> directories, const std::string& job,
                               bool has_timeline) {
  auto scratch = ImageFile::make(directories, job, ".cost-" + std::to_string(getpid()), kScratch);
  if (!scratch) return 0;
  scratch.value()->remove();
  const std::uint32_t other[kCallClasses] = {};
  const auto thread = ThreadRecord::make(*scratch.value(), 0, {}, other, nullptr);
  if (thread == nullptr) return 0;
  TimelineMemory events(*scratch.value(), kScratch / 4);
  if (has_timeline) thread->start_timeline(events);
  const ClockReading begin = read_clock();
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < kCalls; ++i) {
    const std::int64_t from = ticks();
    record_call(*thread);
    least = std::min(least, ticks() - from);
  }
  const ClockReading end = read_clock();
  return static_cast<std::int64_t>(static_cast<double>(least) * tick_length(begin, end) * 1000);
}

}  // namespace headrace::record
