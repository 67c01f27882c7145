#include "engine/work_queue.h"

#include <algorithm>
#include <new>

namespace headrace::engine {

WorkQueue::WorkQueue(std::size_t most_at_a_time) : most_at_a_time_(most_at_a_time) {}

bool WorkQueue::add(std::shared_ptr<Work> work, const exchange::Waiter& waiter) {
  if (!process_.is_here()) {
    work->run(waiter);
    return true;
  }
  {
    const std::lock_guard lock(mutex_);
    try {
      waiting_.push_back(std::move(work));
    } catch (const std::bad_alloc&) {
      return false;
    }
    if (at_work_ == most_at_a_time_) return true;
    at_work_ += 1;
  }
  if (HelperThreads::of_process().run(shared_from_this())) return true;
  {
    const std::lock_guard lock(mutex_);
    // Another thread is at it still, and will find what was added.
    if (at_work_ > 1) {
      at_work_ -= 1;
      return true;
    }
  }
  work_off(waiter);
  return true;
}

bool WorkQueue::withdraw(const Work& work) {
  if (!process_.is_here()) return false;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(waiting_, &work, &std::shared_ptr<Work>::get);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

/// Does what there is. The caller is counted among those at work.
void WorkQueue::work_off(const exchange::Waiter& waiter) {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    std::shared_ptr<Work> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work->run(waiter);
    work.reset();
    lock.lock();
  }
  at_work_ -= 1;
}

}  // namespace headrace::engine
