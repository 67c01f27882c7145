#include "abi/flavour/recorded_request.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>

#include "abi/flavour/request_map.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

using Key = std::uintptr_t;

/// A part of all that are tracked. Threads rarely meet in one.
struct alignas(64) Shard {
  RequestMap<TrackedRequest> requests;
};

constexpr std::size_t kShards = 16;

Shard& shard_of(Key key) {
  static auto& shards = *new std::array<Shard, kShards>;  // never destroyed: exit may call MPI
  return shards[(key * 0x9e3779b97f4a7c15u >> 56) % kShards];
}

std::atomic<std::int64_t> tracked_count = 0;

/// A complete one is dropped, unless it can be started anew. Returns whether it was tracked.
bool take_complete(MPI_Request request, TrackedRequest& taken) {
  const Key key = handle_key(request);
  bool is_taken = false;
  bool is_dropped = false;
  shard_of(key).requests.visit(key, [&](TrackedRequest& tracked) {
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

/// The same, but of one that the library is still to complete: then one that can be started anew
/// keeps its handle, so it stays where it is.
bool take_before(MPI_Request request, TrackedRequest& taken) {
  const Key key = handle_key(request);
  bool is_taken = false;
  shard_of(key).requests.visit(key, [&](const TrackedRequest& tracked) {
    if (!tracked.is_active || tracked.is_persistent) return true;
    taken = tracked;
    is_taken = true;
    return false;
  });
  return is_taken;
}

/// Whether several threads may be in MPI at once.
bool threads_meet() {
  static const bool found = [] {
    int level = MPI_THREAD_MULTIPLE;
    return native.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
  }();
  return found;
}

/// What becomes of errors at most.
enum class Errors : int { end_the_job, are_returned, call_the_program };
std::atomic<Errors> errors = Errors::end_the_job;

/// Whether the handler ends the job. Open MPI's headers name an object of the library, to which we
/// are not linked.
bool is_fatal(MPI_Errhandler handler) noexcept {
#ifdef OPEN_MPI
  return static_cast<void*>(handler) == dlsym(RTLD_DEFAULT, "ompi_mpi_errors_are_fatal");
#else
  return handler == MPI_ERRORS_ARE_FATAL;
#endif
}

/// Each row is written by its own thread alone: another one counts to a row of its own.
void count_arrival(const TrackedRequest& tracked, std::int64_t bytes) noexcept {
  record::ThreadRecord* const own = record::this_thread();
  if (own == nullptr) return;
  record::Row& row = tracked.thread == own
                         ? *tracked.row
                         : own->row_without_path(tracked.row->procedure, tracked.call_class,
                                                 tracked.row->communicator);
  row.received += bytes;
  if (tracked.file != nullptr) record::add(tracked.file->read, bytes);
  if (!tracked.is_binned) row.bins[static_cast<std::size_t>(record::bin_of(bytes))] += 1;
}

}  // namespace

void track(MPI_Request request, const TrackedRequest& tracked) noexcept {
  if (request == MPI_REQUEST_NULL) return;
  const Key key = handle_key(request);
  bool is_new = false;
  if (shard_of(key).requests.put(key, tracked, is_new) && is_new) {
    tracked_count.fetch_add(1, std::memory_order_relaxed);
  }
}

void untrack(MPI_Request request) noexcept {
  if (tracked_count.load(std::memory_order_relaxed) == 0) return;
  const Key key = handle_key(request);
  shard_of(key).requests.visit(key, [](const TrackedRequest&) {
    tracked_count.fetch_sub(1, std::memory_order_relaxed);
    return false;
  });
}

void count_start(MPI_Request request, Call& call) noexcept {
  const Key key = handle_key(request);
  TrackedRequest started{};
  shard_of(key).requests.visit(key, [&](TrackedRequest& tracked) {
    tracked.is_active = tracked.receives;
    tracked.thread = &call.thread();
    tracked.row = &call.row();
    tracked.call_class = call.call_class();
    started = tracked;
    return true;
  });
  if (!started.is_binned) return;
  call.send(started.bytes);
  if (started.to != kNobody) call.thread().add_message(started.to, started.bytes);
}

void note_error_handler(MPI_Errhandler handler) noexcept {
  if (is_fatal(handler)) return;
  const Errors noted =
      handler == MPI_ERRORS_RETURN ? Errors::are_returned : Errors::call_the_program;
  Errors known = errors.load(std::memory_order_relaxed);
  while (known < noted && !errors.compare_exchange_weak(known, noted)) {
  }
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
  if (threads_meet()) take_all();
}

Completion::~Completion() {
  if (taken_ == nullptr) return;
  for (std::size_t i = 0; i < length_; ++i) {
    if (taken_[i].row == nullptr) continue;
    tracked_count.fetch_sub(1, std::memory_order_relaxed);
    if (program_[i] == requests_[i]) track(requests_[i], taken_[i]);
  }
}

void Completion::take_all() noexcept {
  if (length_ > kFew) many_taken_.reset(new (std::nothrow) TrackedRequest[length_]);
  taken_ = length_ > kFew ? many_taken_.get() : few_taken_;
  for (std::size_t i = 0; taken_ != nullptr && i < length_; ++i) {
    const bool is_there = requests_[i] != MPI_REQUEST_NULL && take_before(requests_[i], taken_[i]);
    if (!is_there) taken_[i].row = nullptr;
  }
}

/// What is known of a request that is complete now. False if it is not tracked.
bool Completion::take(std::size_t index, TrackedRequest& taken) noexcept {
  if (index >= length_ || requests_[index] == MPI_REQUEST_NULL) return false;
  if (taken_ != nullptr && taken_[index].row != nullptr) {
    taken = taken_[index];
    taken_[index].row = nullptr;
    tracked_count.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  // One whose handle is gone may be another thread's by now.
  if (taken_ != nullptr && is_gone(index)) return false;
  return take_complete(requests_[index], taken);
}

void Completion::finish(std::size_t index, const MPI_Status& status) noexcept {
  TrackedRequest tracked;
  if (take(index, tracked)) count_arrival(tracked, arrived(status));
}

void Completion::drop(std::size_t index) noexcept {
  TrackedRequest dropped;
  static_cast<void>(take(index, dropped));
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
  for (std::size_t i = 0; i < length_; ++i) {
    if (is_gone(i)) drop(i);
  }
}

bool Completion::ask(void* get_status, std::size_t index) noexcept {
  if (requests_[index] == MPI_REQUEST_NULL) return false;
  TrackedRequest tracked;
  bool is_awaited = false;
  if (taken_ != nullptr && taken_[index].row != nullptr) {
    tracked = taken_[index];
    is_awaited = true;
  } else {
    const Key key = handle_key(requests_[index]);
    shard_of(key).requests.visit(key, [&](const TrackedRequest& own) {
      is_awaited = own.is_active;
      tracked = own;
      return true;
    });
  }
  // The library need not bring those of files on before they are waited for.
  if (!is_awaited || tracked.call_class == record::CallClass::io) return false;
  int is_complete = 0;
  while (is_complete == 0) {
    const abi::Word code = abi::call_words(
        get_status, static_cast<abi::Word>(handle_key(requests_[index])),
        reinterpret_cast<abi::Word>(&is_complete), reinterpret_cast<abi::Word>(&statuses_[index]));
    if (static_cast<int>(code) != MPI_SUCCESS) return false;
    if (is_complete == 0) std::this_thread::yield();
  }
  return true;
}

void Completion::keep_errors(void* get_status) noexcept {
  const Errors own = errors.load(std::memory_order_relaxed);
  if (length_ == 0 || !is_ignored_ || own == Errors::end_the_job) return;
  given_ = MPI_STATUSES_IGNORE;
  for (std::size_t i = 0; i < length_; ++i) {
    // An error that is found here would be told to a handler of the program twice.
    if (own == Errors::are_returned && ask(get_status, i)) {
      finish(i, statuses_[i]);
    }
  }
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
