#include "file/work_queue.h"

#include <cassert>
#include <utility>

namespace headrace::file {

WorkQueue::WorkQueue(std::size_t most_at_a_time) : most_at_a_time_(most_at_a_time) {
  assert(most_at_a_time > 0);
}

void WorkQueue::add(std::shared_ptr<Work> work, const fabric::Waiter& waiter) {
  if (!process_.is_here()) return work->run(waiter);
  {
    const std::lock_guard lock(mutex_);
    Work* const added = work.get();
    (first_ ? last_->next_ : first_) = std::move(work);
    last_ = added;
    if (at_work_ == most_at_a_time_) return;
    at_work_ += 1;
  }
  if (threads::HelperThreads::of_process().run(shared_from_this())) return;
  {
    const std::lock_guard lock(mutex_);
    // Another thread is still working and will find the new work.
    if (at_work_ > 1) {
      at_work_ -= 1;
      return;
    }
  }
  work_off(waiter);
}

bool WorkQueue::withdraw(const Work& work) {
  if (!process_.is_here()) return false;
  const std::lock_guard lock(mutex_);
  Work* before = nullptr;
  for (std::shared_ptr<Work>* place = &first_; *place; place = &before->next_) {
    if (place->get() == &work) {
      take_out(*place, before);
      return true;
    }
    before = place->get();
  }
  return false;
}

/// Removes the work at `place`, which follows `before` (null: at the front).
std::shared_ptr<Work> WorkQueue::take_out(std::shared_ptr<Work>& place, Work* before) {
  std::shared_ptr<Work> taken = std::move(place);
  place = std::move(taken->next_);
  if (!place) last_ = before;
  return taken;
}

/// Does all work in the queue. The caller is counted in at_work_.
void WorkQueue::work_off(const fabric::Waiter& waiter) {
  std::unique_lock lock(mutex_);
  while (first_) {
    std::shared_ptr<Work> work = take_out(first_, nullptr);
    lock.unlock();
    work->run(waiter);
    work.reset();
    lock.lock();
  }
  at_work_ -= 1;
}

}  // namespace headrace::file
