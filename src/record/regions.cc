#include "record/regions.h"

#include <array>
#include <string>

#include "base/message.h"
#include "record/record_switch.h"
#include "record/recorder.h"
#include "record/region_names.h"

namespace headrace::record {
namespace {

/// Regions of a thread that it entered before there was a recorder.
struct Early {
  static constexpr std::size_t kMost = 32;
  std::array<int, kMost> ids;
  std::size_t depth;
};

constinit thread_local Early early{};

void tell_listener(const ThreadRecord& thread) noexcept {
  const RegionListener listener = region_listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener(thread.region());
}

void begin_early(int id) noexcept {
  if (early.depth < Early::kMost) early.ids[early.depth++] = id;
}

void end_early(int id) noexcept {
  std::size_t place = early.depth;
  while (place > 0 && early.ids[place - 1] != id) --place;
  if (place > 0) early.depth = place - 1;
}

/// One rank tells for all; the record counts those of each.
RegionCall refuse(int id, const char* what) noexcept {
  try {
    ImageFile* const own = image();
    if (own != nullptr && own->header().rank == 0) {
      print_message_once("region " + std::to_string(id) + what);
    }
  } catch (const std::bad_alloc&) {
    // The record has it.
  }
  return RegionCall::refused;
}

RegionCall tell(int id, RegionStack::End how) noexcept {
  if (how == RegionStack::End::matched) return RegionCall::noted;
  return refuse(id, how == RegionStack::End::not_open
                        ? " was ended and is not open: begin it in the same thread first"
                        : " was ended before regions in it: end the innermost one first");
}

/// Of one begin of a region.
std::int64_t counted_entries() {
  return is_switched_off.load(std::memory_order_relaxed) ? 0 : 1;
}

}  // namespace

std::atomic<RegionListener> region_listener = nullptr;

void take_early_regions(ThreadRecord& thread, std::int64_t begin) noexcept {
  for (std::size_t i = 0; i < early.depth; ++i) {
    thread.begin_region(early.ids[i], nullptr, begin, counted_entries());
  }
  if (thread.timeline() != nullptr) thread.timeline()->begin_regions_at(begin);
  early.depth = 0;
}

RegionCall begin_region(int id, const char* label) noexcept {
  if (!is_recording.load(std::memory_order_relaxed)) {
    if (id >= 0 && image() == nullptr && name_region(id, label)) begin_early(id);
    return RegionCall::unrecorded;
  }
  if (id < 0) return refuse(id, " has a negative number: give it one from 0 on");
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return RegionCall::unrecorded;
  thread->begin_region(id, label, recorded_ticks(), counted_entries());
  tell_listener(*thread);
  return RegionCall::noted;
}

RegionCall end_region(int id) noexcept {
  if (!is_recording.load(std::memory_order_relaxed)) {
    if (image() == nullptr) end_early(id);
    return RegionCall::unrecorded;
  }
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return RegionCall::unrecorded;
  const RegionStack::End how = thread->end_region(id, recorded_ticks());
  tell_listener(*thread);
  return tell(id, how);
}

bool flush_record() noexcept {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return false;
  const std::int64_t now = ticks();
  thread->update_counts(now);
  sample_process(now);
  return true;
}

}  // namespace headrace::record
