#include "simulate/storage.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace headrace::simulate {

bool Object::has_lock(int client, FileOffset begin, FileOffset end) const {
  auto after = locks_.upper_bound(begin);
  if (after == locks_.begin()) return false;
  const auto& [from, lock] = *std::prev(after);
  return from <= begin && lock.client == client && lock.end >= end;
}

/// The client sends what it keeps before it gives the lock back, and the writer waits for that.
void Object::call_back(int client) {
  const StorageCounts before = counts_;
  ++counts_.lock_transfers;
  if (const auto run = kept_.find(client); run != kept_.end()) {
    send(run->second, run->second.end);
  }
  waited_for_.lock_transfers += counts_.lock_transfers - before.lock_transfers;
  waited_for_.requests += counts_.requests - before.requests;
  waited_for_.read_modify_writes += counts_.read_modify_writes - before.read_modify_writes;
  waited_for_.bytes += counts_.bytes - before.bytes;
}

void Object::lock(int client, FileOffset begin, FileOffset end) {
  FileOffset from = 0;
  FileOffset to = std::numeric_limits<FileOffset>::max();
  auto next = locks_.lower_bound(begin);
  if (next != locks_.begin() && std::prev(next)->second.end > begin) --next;
  while (next != locks_.end() && next->first < end) {
    if (next->second.client != client) call_back(next->second.client);
    next = locks_.erase(next);
  }
  // What others have keeps the lock from growing; the client's own locks become part of it.
  while (next != locks_.end() && next->second.client == client && !locks_ahead_) {
    next = locks_.erase(next);
  }
  if (next != locks_.end()) to = next->first;
  while (next != locks_.begin()) {
    const auto before = std::prev(next);
    if (before->second.client != client || locks_ahead_) {
      from = before->second.end;
      break;
    }
    locks_.erase(before);
  }
  ++counts_.lock_grants;
  if (locks_ahead_) {
    from = begin;
    to = end;
  }
  locks_[from] = {to, client};
}

/// Sends what the run holds below `end`, block by block.
void Object::send(Run& run, FileOffset end) {
  if (run.begin >= end) return;
  const std::int64_t first = run.begin / server_block_;
  const std::int64_t last = (end - 1) / server_block_;
  const bool starts_inside = run.begin % server_block_ != 0;
  const bool ends_inside = end % server_block_ != 0;
  counts_.requests += last - first + 1;
  counts_.read_modify_writes += first == last ? (starts_inside || ends_inside ? 1 : 0)
                                              : (starts_inside ? 1 : 0) + (ends_inside ? 1 : 0);
  counts_.bytes += end - run.begin;
  run.begin = end;
}

void Object::keep(Run& run, FileOffset begin, FileOffset end) {
  if (run.end != begin) {
    send(run, run.end);
    run = {begin, end};
  }
  run.end = end;
  send(run, end / server_block_ * server_block_);
}

void Object::write(int client, FileOffset begin, FileOffset end) {
  if (!has_lock(client, begin, end)) lock(client, begin, end);
  keep(kept_[client], begin, end);
}

void Object::close() {
  for (auto& [client, run] : kept_) send(run, run.end);
}

}  // namespace headrace::simulate
