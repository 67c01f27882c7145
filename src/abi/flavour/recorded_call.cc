#include "abi/flavour/recorded_call.h"

#include "abi/flavour/recorded_request.h"
#include "abi/flavour/recorded_waits.h"
#include "abi/generated/features.h"
#include "record/record_switch.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

constinit std::atomic<bool> has_cancelled = false;

Call::Call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept
    : thread_(record::this_thread()), entry_(static_cast<int>(entry)) {
  if (thread_ == nullptr) {
    record::note_lost_call();
    return;
  }
  path_ = &thread_->find_path(return_slot, entry_);
  if (path_->is_foreign) {
    thread_ = nullptr;
    return;
  }
  static_cast<void>(thread_->take_apart());  // of a call that was not recorded
  note_ = record::procedure_note(entry_);
  begin_ = record::ticks();
  outer_ = thread_->open_call().enter(note_, path_->id, begin_, this);
  if (record::ThreadTimeline* const line = thread_->timeline(); line != nullptr) [[unlikely]] {
    if (!record::is_switched_off) line->enter(note_, begin_, this);
  }
}

/// A child that the program has forked in the call must not write.
void Call::add_event(std::uint32_t procedure, std::int64_t end, std::uint32_t shape) noexcept {
  if (record::is_switched_off || !record::is_recording) return;
  event_ = &thread_->timeline()->add(
      {begin_, end - begin_, procedure, shape, thread_->region(), file_name_, 0, 0});
}

void Call::finish_event(std::int64_t end, std::uint32_t shape) noexcept {
  if (record::is_recording) thread_->timeline()->leave(this);
  add_event(note_, end, shape);
}

bool Call::finish(std::int64_t end, bool has_failed, std::uint32_t shape) noexcept {
  thread_->open_call().leave(outer_);
  if (const std::int64_t apart = thread_->take_apart(); apart > 0) [[unlikely]] {
    record::Row& barrier = thread_->row(*path_, record::sync_note(entry_), call_class(), shape);
    thread_->add_call(barrier, begin_, begin_ + apart);
    barrier_ = &barrier;
    barrier_begin_ = begin_;
    if (thread_->timeline() != nullptr) add_event(record::sync_note(entry_), begin_ + apart, shape);
    begin_ += apart;
  }
  row_ = &thread_->row(*path_, note_, call_class(), shape);
  if (has_failed) row_->failed += 1;
  thread_->add_call(*row_, begin_, end);
  end_ = end;
  if (thread_->timeline() != nullptr) [[unlikely]]
    finish_event(end, shape);
  if (file_ != nullptr) [[unlikely]]
    count_passed_call(*file_, recorded_procedures[entry_].name, end - begin_);
  return !has_failed;
}

bool Call::end(abi::Word code) noexcept {
  return finish(record::ticks(), static_cast<int>(code) != MPI_SUCCESS, record::kNone);
}

bool Call::end(abi::Word code, MPI_Comm communicator) noexcept {
  const std::int64_t end = record::ticks();
  const bool has_failed = static_cast<int>(code) != MPI_SUCCESS;
  if (has_failed) {
    const record::CallClass of_class = call_class();
    if (of_class == record::CallClass::collective ||
        of_class == record::CallClass::point_to_point) {
      stop_following_waits();
    }
    return finish(end, true, record::kNone);
  }
  const CommunicatorFacts facts = facts_of(communicator);
  errors_ = facts.errors;
  communicator_ = facts.id;
  return finish(end, false, facts.shape);
}

void Call::send(std::int64_t bytes) noexcept {
  row_->sent += bytes;
  if (event_ != nullptr) [[unlikely]]
    event_->sent += bytes;
  if (file_ != nullptr) [[unlikely]]
    count_passed_bytes(*file_, true, bytes, begin_);
  row_->bins[static_cast<std::size_t>(record::bin_of(bytes))] += 1;
  is_binned_ = true;
}

void Call::send(std::int64_t bytes, int to, MPI_Comm communicator) noexcept {
  send(bytes);
  const std::int64_t peer = peer_in_world(to, communicator);
  if (peer == kNobody) return;
  thread_->add_message(peer, bytes);
  if (event_ != nullptr) [[unlikely]]
    event_->peer = static_cast<std::int32_t>(peer);
}

void Call::receive(const MPI_Status& status) noexcept {
  receive(arrived(status));
}

void Call::receive(const MPI_Status& status, MPI_Comm communicator) noexcept {
  receive(status);
  if (event_ == nullptr) return;
  const std::int64_t peer = peer_in_world(status.MPI_SOURCE, communicator);
  event_->peer = peer == kNobody ? record::kNoPeer : static_cast<std::int32_t>(peer);
}

void Call::receive(std::int64_t bytes) noexcept {
  row_->received += bytes;
  if (event_ != nullptr) [[unlikely]]
    event_->received += bytes;
  if (file_ != nullptr) [[unlikely]]
    count_passed_bytes(*file_, false, bytes, begin_);
  if (!is_binned_) row_->bins[static_cast<std::size_t>(record::bin_of(bytes))] += 1;
}

void Call::has_opened(MPI_File file, const char* name) noexcept {
  const NotedFile noted = note_opened(file, name, thread_->timeline() != nullptr);
  if (event_ != nullptr) event_->peer = noted.name;
  if (noted.counts == nullptr) return;
  record::add(noted.counts->ticks, end_ - begin_);
  record::add(noted.counts->open, end_ - begin_);
}

TrackedRequest Call::tracked() const noexcept {
  return {.thread = thread_,
          .row = row_,
          .call_class = call_class(),
          .errors = errors_,
          .receives = false,
          .is_binned = is_binned_,
          .is_persistent = false,
          .is_active = true,
          .bytes = 0,
          .to = kNobody,
          .communicator = communicator_,
          .tag = kNoTag,
          .from = kNoTag,
          .posted = begin_,
          .number = 0,
          .file = file_};
}

void Call::await(MPI_Request request) noexcept {
  TrackedRequest made = tracked();
  made.receives = true;
  track(request, made);
}

void Call::await(MPI_Request request, int from, int tag) noexcept {
  TrackedRequest made = tracked();
  made.receives = true;
  made.from = from;
  made.tag = tag;
  made.number = note_posted(made);
  track(request, made);
}

void Call::follow(MPI_Request request) noexcept {
  if (errors_ == Errors::are_returned || threads_meet()) track(request, tracked());
}

void Call::keep(MPI_Request request, std::int64_t bytes, std::int64_t to, int from, int tag,
                bool receives) noexcept {
  TrackedRequest made = tracked();
  made.receives = receives;
  made.is_binned = !receives;
  made.is_persistent = true;
  made.is_active = false;
  made.bytes = bytes;
  made.to = to;
  made.from = from;
  made.tag = tag;
  if (tag == kNoTag) made.communicator = 0;
  made.file = nullptr;
  track(request, made);
}

namespace {

/// The path of a call without time, which is counted; null if it is not the program's.
record::PathEnd* count(record::ThreadRecord& thread, abi::Entry entry,
                       const std::uintptr_t* return_slot) noexcept {
  const int index = static_cast<int>(entry);
  record::PathEnd& path = thread.find_path(return_slot, index);
  if (path.is_foreign) return nullptr;
  record::Row& row = thread.row(path, record::procedure_note(index),
                                recorded_procedures[index].call_class, record::kNone);
  row.least = 0;
  row.calls += 1;
  return &path;
}

}  // namespace

bool count_call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept {
  record::ThreadRecord* const thread = record::this_thread();
  if (thread != nullptr) return count(*thread, entry, return_slot) != nullptr;
  record::note_lost_call();
  return false;
}

void begin_last_call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept {
  record::ThreadRecord* const thread = record::this_thread();
  if (thread == nullptr) return record::note_lost_call();
  const record::PathEnd* const path = count(*thread, entry, return_slot);
  if (path == nullptr) return;
  thread->open_call().enter(record::procedure_note(static_cast<int>(entry)), path->id,
                            record::ticks(), __builtin_frame_address(0));
}

void call_has_returned() noexcept {
  if (record::own_record != nullptr && record::is_this_process())
    record::own_record->open_call().leave({});
}

std::int64_t arrived(const MPI_Status& status) noexcept {
  MPI_Count count = 0;
  int is_cancelled = 0;
  if (has_cancelled.load(std::memory_order_relaxed) &&
      (native.Test_cancelled(&status, &is_cancelled) != MPI_SUCCESS || is_cancelled != 0)) {
    return 0;
  }
  if (native.Get_elements_x(&status, MPI_BYTE, &count) != MPI_SUCCESS || count < 0) return 0;
  return static_cast<std::int64_t>(count);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
