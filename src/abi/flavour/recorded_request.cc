#include "abi/flavour/recorded_request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "abi/flavour/library_version.h"
#include "abi/flavour/recorded_file.h"
#include "abi/flavour/recorded_waits.h"
#include "record/recorder.h"
#include "record/request_map.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

using Key = std::uintptr_t;

using Requests = record::RequestMap<TrackedRequest>;

/// A part of all that are tracked. Threads rarely meet in one.
struct alignas(64) Shard {
  Requests requests;
};

constexpr std::size_t kShards = 16;

Shard& shard_of(Key key) {
  static auto& shards = *new std::array<Shard, kShards>;  // never destroyed: exit may call MPI
  return shards[(key * 0x9e3779b97f4a7c15u >> 56) % kShards];
}

std::atomic<std::int64_t> tracked_count = 0;

/// Of the request that was tracked last.
std::atomic<std::uint64_t> last_serial = 0;
/// Threads that may be between the end of a request and its count at once.
constexpr int kMostOfHandle = 8;

std::uint64_t new_serial() noexcept {
  return threads_meet() ? last_serial.fetch_add(1, std::memory_order_acq_rel) + 1 : 0;
}

/// Open MPI's MPI_Request_get_status does not tell of errors. But where Open MPI has to wait, it
/// does the same after an error whether it fills statuses or not.
bool may_wait_with_statuses() noexcept {
  return library_version().starts_with("Open MPI");
}

/// How long the library is asked about requests that may need its own wait.
constexpr std::chrono::milliseconds kAskedFor{10};

/// Each row is written by its own thread alone: another one counts to a row of its own.
void count_arrival(const TrackedRequest& tracked, std::int64_t bytes) noexcept {
  if (!tracked.receives) return;
  record::ThreadRecord* const own = record::this_thread();
  if (own == nullptr) return;
  record::Row& row = tracked.thread == own
                         ? *tracked.row
                         : own->row_without_path(tracked.row->procedure, tracked.call_class,
                                                 tracked.row->communicator);
  row.received += bytes;
  if (tracked.file != nullptr) count_passed_bytes(*tracked.file, false, bytes, 0);
  if (!tracked.is_binned) row.bins[static_cast<std::size_t>(record::bin_of(bytes))] += 1;
}

}  // namespace

bool threads_meet() noexcept {
  static const bool found = [] {
    int level = MPI_THREAD_MULTIPLE;
    return native.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
  }();
  return found;
}

void track(MPI_Request request, const TrackedRequest& tracked) noexcept {
  if (request == MPI_REQUEST_NULL) return;
  const Key key = handle_key(request);
  bool is_new = false;
  const int most = threads_meet() ? kMostOfHandle : 1;
  if (shard_of(key).requests.put(key, new_serial(), tracked, most, is_new) && is_new) {
    tracked_count.fetch_add(1, std::memory_order_relaxed);
  }
}

void untrack(MPI_Request request) noexcept {
  if (tracked_count.load(std::memory_order_relaxed) == 0) return;
  const Key key = handle_key(request);
  shard_of(key).requests.visit(key, Requests::kLatest, [](const TrackedRequest& tracked) {
    if (tracked.receives && tracked.is_active) stop_following_messages();
    tracked_count.fetch_sub(1, std::memory_order_relaxed);
    return false;
  });
}

void count_start(MPI_Request request, Call& call) noexcept {
  const Key key = handle_key(request);
  TrackedRequest started{};
  shard_of(key).requests.visit(key, Requests::kLatest, [&](TrackedRequest& tracked) {
    tracked.is_active = tracked.receives;
    tracked.thread = call.measured().thread;
    tracked.row = call.measured().row;
    tracked.call_class = call.call_class();
    tracked.posted = call.measured().begin;
    tracked.number = note_posted(tracked);
    started = tracked;
    return true;
  });
  if (!started.is_binned) return;
  call.send(started.bytes);
  note_started(call.measured(), started);
  if (started.to != kNobody) call.measured().thread->add_message(started.to, started.bytes);
}

Completion::Completion(const MPI_Request* requests, int count, MPI_Status* statuses,
                       bool is_array) noexcept
    : program_(requests), statuses_(statuses), given_(statuses) {
  if (tracked_count.load(std::memory_order_relaxed) == 0 || requests == nullptr || count <= 0) {
    return;
  }
  const auto length = static_cast<std::size_t>(count);
  is_ignored_ = statuses == (is_array ? MPI_STATUSES_IGNORE : MPI_STATUS_IGNORE);
  if (length > kFew) {
    many_requests_.reset(new (std::nothrow) MPI_Request[length]);
    if (is_ignored_) many_statuses_.reset(new (std::nothrow) MPI_Status[length]);
    if (many_requests_ == nullptr || (is_ignored_ && many_statuses_ == nullptr)) return;
    requests_ = many_requests_.get();
  }
  length_ = length;
  std::copy_n(requests, length, requests_);
  if (is_ignored_) given_ = statuses_ = length > kFew ? many_statuses_.get() : few_statuses_;
  serial_ = last_serial.load(std::memory_order_acquire);
}

/// False if it is not tracked, or not active.
bool Completion::find(std::size_t index, TrackedRequest& found) const noexcept {
  if (requests_[index] == MPI_REQUEST_NULL) return false;
  const Key key = handle_key(requests_[index]);
  bool is_there = false;
  shard_of(key).requests.visit(key, serial_, [&](const TrackedRequest& tracked) {
    found = tracked;
    is_there = tracked.is_active;
    return true;
  });
  return is_there;
}

/// What is known of a request that is complete now. False if it is not tracked. It is dropped,
/// unless it can be started anew.
bool Completion::take(std::size_t index, TrackedRequest& taken) noexcept {
  if (index >= length_ || requests_[index] == MPI_REQUEST_NULL) return false;
  const Key key = handle_key(requests_[index]);
  bool is_taken = false;
  bool is_dropped = false;
  shard_of(key).requests.visit(key, serial_, [&](TrackedRequest& tracked) {
    if (!tracked.is_active) return true;
    taken = tracked;
    tracked.is_active = false;
    is_taken = true;
    is_dropped = !tracked.is_persistent;
    return !is_dropped;
  });
  if (is_dropped) tracked_count.fetch_sub(1, std::memory_order_relaxed);
  return is_taken;
}

void Completion::finish(std::size_t index, const MPI_Status& status) noexcept {
  TrackedRequest tracked;
  if (!take(index, tracked)) {
    if (index < length_ && requests_[index] != MPI_REQUEST_NULL) note_unknown_wait();
    return;
  }
  count_arrival(tracked, arrived(status));
  note_received(tracked, status);
}

/// It is complete, and nothing tells how much has arrived.
void Completion::drop(std::size_t index) noexcept {
  TrackedRequest dropped;
  if (!take(index, dropped) || !dropped.receives) return;
  record::count_unsized();
  stop_following_messages();
}

void Completion::finish_one(int index) noexcept {
  if (length_ == 0 || index == MPI_UNDEFINED) return;
  finish(static_cast<std::size_t>(index), statuses_[0]);
}

void Completion::finish_all() noexcept {
  for (std::size_t i = 0; i < length_; ++i) {
    if (given_ == statuses_) {
      finish(i, statuses_[i]);
    } else {
      drop(i);
    }
  }
}

void Completion::finish_some(int count, const int* indices) noexcept {
  if (length_ == 0 || count == MPI_UNDEFINED) return;
  for (int i = 0; i < count; ++i) finish(static_cast<std::size_t>(indices[i]), statuses_[i]);
}

void Completion::finish_failed() noexcept {
  if (length_ > 0) stop_following_messages();
  for (std::size_t i = 0; i < length_; ++i) {
    if (is_gone(i)) drop(i);
  }
}

/// Records it if it is complete. Waits for nothing.
Completion::Answer Completion::ask(void* get_status, std::size_t index) noexcept {
  MPI_Status& status = statuses_[index];
  status.MPI_ERROR = MPI_SUCCESS;  // MPICH leaves it as it is
  int is_complete = 0;
  const abi::Word code = abi::call_words(
      get_status, static_cast<abi::Word>(handle_key(requests_[index])),
      reinterpret_cast<abi::Word>(&is_complete), reinterpret_cast<abi::Word>(&status));
  if (static_cast<int>(code) != MPI_SUCCESS) return Answer::failed;
  if (is_complete == 0) return Answer::pending;
  if (status.MPI_ERROR != MPI_SUCCESS) return Answer::failed;
  finish(index, status);
  return Answer::complete;
}

/// Once about each request that is tracked still. False after an error.
bool Completion::ask_all(void* get_status, bool& is_pending) noexcept {
  TrackedRequest tracked;
  for (std::size_t i = 0; i < length_; ++i) {
    if (!find(i, tracked)) continue;
    const Answer answer = ask(get_status, i);
    if (answer == Answer::failed) return false;
    if (answer == Answer::pending && tracked.receives) is_pending = true;
  }
  return true;
}

/// Whether there are requests that may need the library's own wait. `has_handlers`: an error may
/// come to the program's handler.
bool Completion::has_untracked_requests(bool& has_handlers) const noexcept {
  TrackedRequest tracked;
  bool found = false;
  for (std::size_t i = 0; i < length_; ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (!find(i, tracked) || tracked.call_class != record::CallClass::point_to_point) {
      found = true;
    } else if (tracked.errors == Errors::call_the_program) {
      has_handlers = true;
    }
  }
  return found;
}

void Completion::keep_errors(void* get_status) noexcept {
  if (length_ == 0 || !is_ignored_ || !errors_may_return()) return;
  if (may_wait_with_statuses()) {
    bool is_pending = false;
    if (!ask_all(get_status, is_pending) || !is_pending) given_ = MPI_STATUSES_IGNORE;
    return;
  }
  given_ = MPI_STATUSES_IGNORE;
  bool has_handlers = false;
  const bool is_bounded = has_untracked_requests(has_handlers);
  if (has_handlers) return;  // they would be told of an error twice
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    bool is_pending = false;
    if (!ask_all(get_status, is_pending) || !is_pending) return;
    if (is_bounded && std::chrono::steady_clock::now() - begin > kAskedFor) return;
    std::this_thread::yield();
  }
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
