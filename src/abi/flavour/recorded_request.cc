#include "abi/flavour/recorded_request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <optional>

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

/// Those that are complete are dropped, unless they can be started anew.
std::optional<TrackedRequest> take_complete(MPI_Request request) {
  const Key key = handle_key(request);
  std::optional<TrackedRequest> taken;
  shard_of(key).requests.visit(key, [&](TrackedRequest& tracked) {
    if (!tracked.is_active) return true;
    taken = tracked;
    tracked.is_active = false;
    return tracked.is_persistent;
  });
  if (taken && !taken->is_persistent) tracked_count.fetch_sub(1, std::memory_order_relaxed);
  return taken;
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
  TrackedRequest started;
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

Completion::Completion(const MPI_Request* requests, int count, MPI_Status* statuses,
                       bool is_array) noexcept
    : statuses_(statuses) {
  if (tracked_count.load(std::memory_order_relaxed) == 0 || requests == nullptr || count <= 0) {
    return;
  }
  const auto length = static_cast<std::size_t>(count);
  const bool is_ignored = statuses == (is_array ? MPI_STATUSES_IGNORE : MPI_STATUS_IGNORE);
  if (length > kFew) {
    many_requests_.reset(new (std::nothrow) MPI_Request[length]);
    if (is_ignored) many_statuses_.reset(new (std::nothrow) MPI_Status[length]);
    if (many_requests_ == nullptr || (is_ignored && many_statuses_ == nullptr)) return;
    requests_ = many_requests_.get();
  }
  length_ = length;
  std::copy_n(requests, length, requests_);
  if (is_ignored) statuses_ = length > kFew ? many_statuses_.get() : few_statuses_;
}

void Completion::finish(std::size_t index, const MPI_Status& status) noexcept {
  if (index >= length_ || requests_[index] == MPI_REQUEST_NULL) return;
  const std::optional<TrackedRequest> tracked = take_complete(requests_[index]);
  if (tracked) count_arrival(*tracked, arrived(status));
}

void Completion::finish_one(int index) noexcept {
  if (length_ == 0 || index == MPI_UNDEFINED) return;
  finish(static_cast<std::size_t>(index), statuses_[0]);
}

void Completion::finish_all() noexcept {
  for (std::size_t i = 0; i < length_; ++i) finish(i, statuses_[i]);
}

void Completion::finish_some(int count, const int* indices) noexcept {
  if (length_ == 0 || count == MPI_UNDEFINED) return;
  for (int i = 0; i < count; ++i) finish(static_cast<std::size_t>(indices[i]), statuses_[i]);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
