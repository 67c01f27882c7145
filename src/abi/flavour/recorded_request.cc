#include "abi/flavour/recorded_request.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

using Key = std::uintptr_t;

Key key_of(MPI_Request request) {
  Key key = 0;
  std::memcpy(&key, &request, sizeof request);
  return key;
}

/// A part of all that are tracked. Threads rarely meet in one.
struct alignas(64) Shard {
  std::mutex mutex;
  std::unordered_map<Key, TrackedRequest> requests;
};

constexpr std::size_t kShards = 64;

std::array<Shard, kShards>& shards() {
  static auto& only = *new std::array<Shard, kShards>;  // never destroyed: exit may call MPI
  return only;
}

Shard& shard_of(Key key) {
  return shards()[(key * 0x9e3779b97f4a7c15u >> 40) % kShards];
}

std::atomic<std::int64_t> tracked_count = 0;

/// Those that are complete are dropped, unless they can be started anew.
std::optional<TrackedRequest> take_complete(MPI_Request request) {
  const Key key = key_of(request);
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.requests.find(key);
  if (found == shard.requests.end() || !found->second.is_active) return std::nullopt;
  const TrackedRequest tracked = found->second;
  if (tracked.is_persistent) {
    found->second.is_active = false;
  } else {
    shard.requests.erase(found);
    tracked_count.fetch_sub(1, std::memory_order_relaxed);
  }
  return tracked;
}

bool is_tracked(MPI_Request request) {
  const Key key = key_of(request);
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  return shard.requests.contains(key);
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
  if (!tracked.is_binned) row.bins[static_cast<std::size_t>(record::bin_of(bytes))] += 1;
}

}  // namespace

void track(MPI_Request request, const TrackedRequest& tracked) noexcept {
  if (request == MPI_REQUEST_NULL) return;
  const Key key = key_of(request);
  Shard& shard = shard_of(key);
  try {
    const std::lock_guard lock(shard.mutex);
    const bool is_new = shard.requests.insert_or_assign(key, tracked).second;
    if (is_new) tracked_count.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    // Its bytes are not known, then.
  }
}

void untrack(MPI_Request request) noexcept {
  if (tracked_count.load(std::memory_order_relaxed) == 0) return;
  const Key key = key_of(request);
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  if (shard.requests.erase(key) != 0) tracked_count.fetch_sub(1, std::memory_order_relaxed);
}

void count_start(MPI_Request request, Call& call) noexcept {
  const Key key = key_of(request);
  Shard& shard = shard_of(key);
  TrackedRequest started;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.requests.find(key);
    if (found == shard.requests.end()) return;
    found->second.is_active = found->second.receives;
    found->second.thread = &call.thread();
    found->second.row = &call.row();
    found->second.call_class = call.call_class();
    started = found->second;
  }
  if (!started.is_binned) return;
  call.send(started.bytes);
  if (started.to != kNobody) call.thread().add_message(started.to, started.bytes);
}

Completion::Completion(const MPI_Request* requests, int count, MPI_Status* statuses,
                       bool is_array) noexcept
    : statuses_(statuses) {
  if (tracked_count.load(std::memory_order_relaxed) == 0 || requests == nullptr) return;
  try {
    const auto length = static_cast<std::size_t>(count < 0 ? 0 : count);
    bool any = false;
    for (std::size_t i = 0; i < length && !any; ++i) any = is_tracked(requests[i]);
    if (!any) return;
    if (statuses == (is_array ? MPI_STATUSES_IGNORE : MPI_STATUS_IGNORE)) {
      own_statuses_.resize(is_array ? length : 1);
      statuses_ = own_statuses_.data();
    }
    requests_.assign(requests, requests + length);
  } catch (const std::bad_alloc&) {
    statuses_ = statuses;
    requests_.clear();
  }
}

void Completion::finish(std::size_t index, const MPI_Status& status) noexcept {
  if (index >= requests_.size() || requests_[index] == MPI_REQUEST_NULL) return;
  const std::optional<TrackedRequest> tracked = take_complete(requests_[index]);
  if (tracked) count_arrival(*tracked, arrived(status));
}

void Completion::finish_one(int index) noexcept {
  if (requests_.empty() || index == MPI_UNDEFINED) return;
  finish(static_cast<std::size_t>(index), statuses_[0]);
}

void Completion::finish_all() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) finish(i, statuses_[i]);
}

void Completion::finish_some(int count, const int* indices) noexcept {
  if (requests_.empty() || count == MPI_UNDEFINED) return;
  for (int i = 0; i < count; ++i) finish(static_cast<std::size_t>(indices[i]), statuses_[i]);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
