#include "exchange/store_jobs.h"

#include <optional>

#include "exchange/slot_io.h"

namespace headrace::exchange {
namespace {

SlotFile slot_of(const ExchangedCall& call, const StoreJob& job) {
  const ByteCount size = call.window_size;
  return {call.store, call.slots, job.window, job.begin / size * size, size};
}

/// After a failure later windows are left alone.
void write_window(const ExchangedCall& call, const StoreJob& job) {
  call.slots.map(job.window);
  write_and_clear(slot_of(call, job), call.granule_shift, call.failure(), call.round());
  call.slots.pass_on(job.window);
}

/// The number of the next job, where there is one that may be done now.
std::optional<std::int64_t> next_job(const StoreJobs& jobs, Direction direction) {
  const std::int64_t next = jobs.taken.load(std::memory_order_acquire);
  if (next >= jobs.added.load(std::memory_order_acquire)) return std::nullopt;
  const bool may =
      direction == Direction::read || jobs.done.load(std::memory_order_acquire) == next;
  return may ? std::optional(next) : std::nullopt;
}

}  // namespace

void add_store_job(const ExchangedCall& call, const StoreJob& job) {
  StoreJobs& jobs = call.staging().jobs;
  const std::int64_t number = jobs.added.load(std::memory_order_relaxed);
  jobs.job(number) = job;
  jobs.added.store(number + 1, std::memory_order_release);
  call.event().signal();
}

bool has_store_job(const ExchangedCall& call, Direction direction) {
  return next_job(call.staging().jobs, direction).has_value();
}

bool do_store_job(const ExchangedCall& call, Direction direction) {
  StoreJobs& jobs = call.staging().jobs;
  while (const std::optional<std::int64_t> next = next_job(jobs, direction)) {
    std::int64_t taken = *next;
    // Else another rank has taken it.
    if (!jobs.taken.compare_exchange_strong(taken, taken + 1, std::memory_order_acq_rel)) continue;
    const StoreJob job = jobs.job(*next);
    if (direction == Direction::write) {
      write_window(call, job);
    } else {
      load_slot(slot_of(call, job), {job.begin, job.end});
    }
    jobs.done.fetch_add(1, std::memory_order_acq_rel);
    call.event().signal();
    return true;
  }
  return false;
}

}  // namespace headrace::exchange
