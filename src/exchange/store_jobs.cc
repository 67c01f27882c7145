#include "exchange/store_jobs.h"

#include <optional>

#include "exchange/slot_io.h"

namespace headrace::exchange {
namespace {

SlotFile slot_of(const ExchangedCall& call, const StoreJob& job) {
  const ByteCount size = call.window_size;
  return {call.store, call.slots, job.window, job.begin / size * size, size};
}

/// After a failure, later windows are not written.
void write_window(const ExchangedCall& call, int leader, const StoreJob& job) {
  call.slots.map(job.window);
  write_and_clear(slot_of(call, job), call.granule_shift, call.failure(leader), call.round());
  call.slots.pass_on(job.window);
}

/// The number of the next job, if it may be done now.
std::optional<std::int64_t> next_job(const StoreJobs& jobs, Direction direction) {
  const std::int64_t next = jobs.taken.load(std::memory_order_acquire);
  if (next >= jobs.added.load(std::memory_order_acquire)) return std::nullopt;
  const bool may =
      direction == Direction::read || jobs.done.load(std::memory_order_acquire) == next;
  return may ? std::optional(next) : std::nullopt;
}

/// Writes or loads the next window of a leader.
bool do_job_of(const ExchangedCall& call, int leader, Direction direction) {
  StoreJobs& jobs = call.state(leader).jobs;
  while (const std::optional<std::int64_t> next = next_job(jobs, direction)) {
    std::int64_t taken = *next;
    const StoreJob job = jobs.job(*next);
    // If this fails, another rank has taken the job, and its place may hold a later one.
    if (!jobs.taken.compare_exchange_strong(taken, taken + 1, std::memory_order_acq_rel)) continue;
    if (direction == Direction::write) {
      write_window(call, leader, job);
    } else {
      load_slot(slot_of(call, job), {job.begin, job.end});
    }
    jobs.done.fetch_add(1, std::memory_order_acq_rel);
    call.event().signal();
    return true;
  }
  return false;
}

}  // namespace

void add_store_job(const ExchangedCall& call, int leader, const StoreJob& job) {
  StoreJobs& jobs = call.state(leader).jobs;
  const std::int64_t number = jobs.added.load(std::memory_order_relaxed);
  jobs.set_job(number, job);
  jobs.added.store(number + 1, std::memory_order_release);
  call.event().signal();
}

bool has_store_job(const ExchangedCall& call, Direction direction) {
  return !call.holds_for_all_leaders(
      0, [&](int leader) { return !next_job(call.state(leader).jobs, direction); });
}

bool do_store_job(const ExchangedCall& call, Direction direction) {
  const int first = call.channel.nodes().node_rank() % call.leaders;
  for (int i = 0; i < call.leaders; ++i) {
    if (do_job_of(call, (first + i) % call.leaders, direction)) return true;
  }
  return false;
}

}  // namespace headrace::exchange
