#include "exchange/store_jobs.h"

namespace headrace::exchange {
namespace {

/// False where it failed: then later windows are left alone.
bool write_stretch(const ExchangedCall& call, const StoreJob& job, ByteCount begin, ByteCount len) {
  const iovec segment{call.slots.bytes(job.window) + begin, static_cast<std::size_t>(len)};
  const storage::Transferred done = call.store.write(job.begin + begin, {&segment, 1});
  if (done.system_error == 0) return true;
  StagingFailure& failure = call.failure();
  failure.window = job.window;
  failure.stop = {job.begin + begin + done.bytes, done.system_error};
  failure.round.store(call.round(), std::memory_order_release);
  return false;
}

/// Writes what is marked, and nothing in between.
void write_window(const ExchangedCall& call, const StoreJob& job) {
  call.slots.map(job.window);
  plan::Coverage covered = call.slots.coverage(job.window, call.granule_shift);
  ByteCount begin = 0;
  ByteCount len = 0;
  bool goes_on = !call.has_failed();
  for (ByteCount at = 0; goes_on && covered.next_run(at, call.window_size, begin, len);
       at = begin + len) {
    goes_on = write_stretch(call, job, begin, len);
  }
  covered.clear(call.window_size);
  call.slots.pass_on(job.window);
}

void load_window(const ExchangedCall& call, const StoreJob& job) {
  call.slots.map(job.window);
  std::byte* const place = call.slots.bytes(job.window) + job.begin % call.window_size;
  const iovec segment{place, static_cast<std::size_t>(job.end - job.begin)};
  const storage::Transferred done = call.store.read(job.begin, {&segment, 1});
  Slot& slot = call.slots.slot(job.window);
  slot.valid_end = job.begin + done.bytes;
  slot.system_error = done.system_error;
  slot.loaded.store(job.window + 1, std::memory_order_release);
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
  const StoreJobs& jobs = call.staging().jobs;
  const std::int64_t next = jobs.taken.load(std::memory_order_acquire);
  if (next >= jobs.added.load(std::memory_order_acquire)) return false;
  return direction == Direction::read || jobs.done.load(std::memory_order_acquire) == next;
}

bool do_store_job(const ExchangedCall& call, Direction direction) {
  StoreJobs& jobs = call.staging().jobs;
  while (has_store_job(call, direction)) {
    std::int64_t next = jobs.taken.load(std::memory_order_acquire);
    if (next >= jobs.added.load(std::memory_order_acquire)) return false;
    if (direction == Direction::write && jobs.done.load(std::memory_order_acquire) != next) {
      return false;
    }
    if (!jobs.taken.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel)) continue;
    const StoreJob job = jobs.job(next);
    if (direction == Direction::write) {
      write_window(call, job);
    } else {
      load_window(call, job);
    }
    jobs.done.fetch_add(1, std::memory_order_acq_rel);
    call.event().signal();
    return true;
  }
  return false;
}

}  // namespace headrace::exchange
