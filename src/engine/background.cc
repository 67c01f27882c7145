#include "engine/background.h"

#include <new>
#include <utility>

namespace headrace::engine {

void InFlight::remove() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) <= 2) event_.signal();
}

void InFlight::wait_for_most(std::int64_t most, const exchange::Waiter& waiter) {
  if (count_.load(std::memory_order_acquire) <= most || !process_.is_here()) return;
  event_.wait(waiter, [this, most] { return count_.load(std::memory_order_acquire) <= most; });
}

UntoldFailures::Ticket UntoldFailures::add(const Error& error) {
  const std::lock_guard lock(mutex_);
  try {
    failures_.emplace(last_ + 1, error);
  } catch (const std::bad_alloc&) {
    unlisted_ = {error.error_class, error.system_error, {}};
    return 0;
  }
  return ++last_;
}

void UntoldFailures::remove(Ticket ticket) {
  if (ticket == 0) return;
  const std::lock_guard lock(mutex_);
  failures_.erase(ticket);
}

Error UntoldFailures::take() {
  const std::lock_guard lock(mutex_);
  if (failures_.empty()) return std::exchange(unlisted_, {});
  unlisted_ = {};
  Error oldest = std::move(failures_.begin()->second);
  failures_.clear();
  return oldest;
}

}  // namespace headrace::engine
