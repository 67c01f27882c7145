#include "trace/thread_trace.h"

#include <new>

#include "base/kept_errno.h"
#include "record/extent_items.h"
#include "trace/handler_frame.h"

namespace headrace::trace {
namespace {

using record::ExtentHeader;
using record::ExtentKind;
using record::kNone;
using record::PathId;
using record::TracedCalls;

constexpr std::uint32_t kCallsAtATime = 64;
constexpr std::uint32_t kFramesAtATime = 128;

}  // namespace

ThreadTrace::ThreadTrace(record::ImageFile& image, std::uint32_t number, int depth)
    : image_(image),
      number_(number),
      paths_(*this, {.depth = depth, .most_nodes = kMostFrames / 2}, nullptr) {
  stack_.learn();
}

std::unique_ptr<ThreadTrace> ThreadTrace::make(record::ImageFile& image, std::uint32_t number,
                                               int depth) {
  std::unique_ptr<ThreadTrace> made(new (std::nothrow) ThreadTrace(image, number, depth));
  const bool is_whole = made != nullptr && made->open_.most() != 0 && made->active_.most() != 0 &&
                        made->links_.most() != 0 && made->others_.most() != 0;
  return is_whole ? std::move(made) : nullptr;
}

void ThreadTrace::change_thread() noexcept {
  paths_.change_thread();
  stack_ = {};
  stack_.learn();
  while (depth_ > 0) drop();
  is_busy_ = false;  // a jump may have left a handler that interrupted the thread before
}

/// Calls that are under way have none of its time in MPI.
void ThreadTrace::set_record(const record::ThreadRecord* record) noexcept {
  const std::int64_t before = ticks_in_mpi();
  record_ = record;
  for (std::size_t i = 0; i < depth_; ++i) open_[i].mpi += ticks_in_mpi() - before;
}

/// Whether memory and locks may be taken.
bool ThreadTrace::may_learn(const std::uintptr_t* slot) const noexcept {
  return stack_.holds(slot - kRoomToLearn) && !may_be_in_handler(slot, stack_.readable_end(slot));
}

TracedCalls* ThreadTrace::calls_of(record::PathEnd& path, std::uint32_t function) noexcept {
  TracedCalls* const known = known_calls(path, function);
  if (known != nullptr) return known;
  TracedCalls* const made = path.id == record::kNoPath ? nullptr : new_calls(path, function);
  return made != nullptr ? made : other_calls(function);
}

TracedCalls* ThreadTrace::new_calls(record::PathEnd& path, std::uint32_t function) {
  if (!links_.has_room(1)) return nullptr;
  auto* const calls = record::take_item<TracedCalls>(image_, calls_, ExtentKind::traced_calls,
                                                     number_, kCallsAtATime);
  if (calls == nullptr) return nullptr;
  new (calls) TracedCalls{functions[function].note, path.id, region(), 0, 0, 0, 0, 0, 0, 0, 0, 0};
  record::publish(calls_);
  CallsLink& link = links_[links_.take(1)];
  link = {calls, function, static_cast<CallsLink*>(path.rows)};
  path.rows = &link;
  return calls;
}

/// For calls by paths for which there is no room.
TracedCalls* ThreadTrace::other_calls(std::uint32_t function) {
  if (others_[function] != nullptr) return others_[function];
  auto* const calls = record::take_item<TracedCalls>(image_, calls_, ExtentKind::traced_calls,
                                                     number_, kCallsAtATime);
  if (calls == nullptr) return nullptr;
  new (calls) TracedCalls{functions[function].note, kNone, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  record::publish(calls_);
  others_[function] = calls;
  return calls;
}

void ThreadTrace::begin_hooked(std::uint32_t function, const std::uintptr_t* slot) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy) return;
  TracedCalls* calls = nullptr;
  CallCost cost = call_costs.by_hooks;
  if (stack_.holds(slot) && forget_dead(slot, true)) {
    record::PathEnd* const path = paths_.find_known(slot);
    calls = path == nullptr ? nullptr : known_calls(*path, function);
    if (calls == nullptr && may_learn(slot)) {
      const std::int64_t begin = record::ticks();
      calls = calls_of(paths_.find(slot, 0), function);
      cost.outside += record::ticks() - begin;
    }
  }
  if (calls != nullptr && depth_ < kMostOpen) {
    open(slot, nullptr, function, *calls, 0, cost);
  } else {
    pass();
  }
}

void ThreadTrace::end_hooked(std::uint32_t function, const std::uintptr_t* slot,
                             std::int64_t now) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy || are_hidden(slot)) return;
  std::size_t place = depth_;
  while (place > 0 &&
         (open_[place - 1].returns != nullptr || open_[place - 1].function != function)) {
    // Those further out than a call that is alive are not this one's.
    place = open_[place - 1].place > slot ? 0 : place - 1;
  }
  if (place > 0 && open_[place - 1].place >= slot) {
    while (depth_ > place) drop();
    close(now, 0);
  }
}

void ThreadTrace::unwind(std::int64_t now) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy) return;
  while (depth_ > 0 && open_[depth_ - 1].returns == nullptr) drop();
  if (depth_ > 0) close(now, 0);
}

void ThreadTrace::end_all(std::int64_t now) noexcept {
  const BusyMark busy(is_busy_);
  if (!busy) return;
  while (depth_ > 0) {
    if (is_dead(open_[depth_ - 1], nullptr, true)) {
      drop();
    } else {
      close(now, 0);
    }
  }
}

std::int64_t ThreadTrace::ticks_of(std::uint32_t function) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < links_.taken(); ++i) {
    if (links_[i].function == function) sum += links_[i].calls->ticks;
  }
  return sum;
}

PathId ThreadTrace::add_frame(const record::Frame& frame) noexcept {
  if (frame_count_ == kMostFrames) return record::kNoPath;
  auto* const place = record::take_item<record::Frame>(image_, frames_, ExtentKind::traced_frames,
                                                       number_, kFramesAtATime);
  if (place == nullptr) return record::kNoPath;
  *place = frame;
  record::publish(frames_);
  return frame_count_++;
}

PathId ThreadTrace::add(PathId caller, std::uintptr_t return_address) noexcept {
  if (record::is_between(caller, return_address)) return caller;
  try {
    const record::Module* const module = modules_.find(return_address);
    if (module == nullptr) return add_frame({caller, kNone, return_address, kNone, 0});
    const std::string_view fields[] = {module->name, module->build_id};
    const std::uint32_t note = image_.note(record::NoteKind::module, fields);
    return add_frame({caller, note, return_address - module->bias, kNone, 0});
  } catch (const std::bad_alloc&) {
    return record::kNoPath;
  }
}

}  // namespace headrace::trace
