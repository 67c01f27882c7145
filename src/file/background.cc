#include "file/background.h"

#include <cassert>
#include <utility>

namespace headrace::file {

void InFlight::remove() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) <= 2) event_.signal();
}

void InFlight::wait_for_most(std::int64_t most, const fabric::Waiter& waiter) {
  if (count_.load(std::memory_order_acquire) <= most || !process_.is_here()) return;
  event_.wait(waiter, [this, most] { return count_.load(std::memory_order_acquire) <= most; });
}

UnreportedFailures::Place::~Place() {
  if (is_used_) all_.leave(*this);
}

void UnreportedFailures::Place::keep(const Error& error) noexcept {
  const std::lock_guard lock(all_.mutex_);
  assert(!is_used_);
  is_used_ = true;
  error_ = error;
  number_ = ++all_.last_;
  Place** end = &all_.first_;
  while (*end != nullptr) end = &(*end)->next_;
  *end = this;
}

void UnreportedFailures::Place::forget() noexcept {
  if (!is_used_) return;
  const std::lock_guard lock(all_.mutex_);
  all_.remove(*this);
}

/// Whether the failure was still there: the program may have been told already. The caller holds
/// the lock.
bool UnreportedFailures::remove(Place& place) noexcept {
  for (Place** link = &first_; *link != nullptr; link = &(*link)->next_) {
    if (*link != &place) continue;
    *link = std::exchange(place.next_, nullptr);
    return true;
  }
  return false;
}

void UnreportedFailures::leave(Place& place) noexcept {
  const std::lock_guard lock(mutex_);
  if (!remove(place)) return;
  if (left_ && left_number_ < place.number_) return;
  left_ = std::move(place.error_);
  left_number_ = place.number_;
}

Error UnreportedFailures::take() noexcept {
  const std::lock_guard lock(mutex_);
  Error oldest = std::exchange(left_, {});
  if (first_ != nullptr && (!oldest || first_->number_ < left_number_)) {
    oldest = std::move(first_->error_);
  }
  while (first_ != nullptr) first_ = std::exchange(first_->next_, nullptr);
  return oldest;
}

}  // namespace headrace::file
