#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "fabric/event.h"
#include "threads/helper_threads.h"

namespace headrace::file {

/// A piece of work for helper threads. It is in one queue at a time.
class Work {
 public:
  virtual ~Work() = default;
  /// Must not throw. `waiter` says how to wait for other ranks.
  virtual void run(const fabric::Waiter& waiter) = 0;

 private:
  friend class WorkQueue;
  std::shared_ptr<Work> next_;  ///< in the queue
};

/// A queue of work that is begun in the order in which it was added, by a limited number of threads
/// at a time. With one thread, each piece is done before the next begins.
class WorkQueue : public threads::Job, public std::enable_shared_from_this<WorkQueue> {
 public:
  explicit WorkQueue(std::size_t most_at_a_time);

  /// Adds work and returns at once. Only if no thread can be had, it does the work itself; `waiter`
  /// says how to wait for other ranks then. Needs no memory, since other ranks already count on the
  /// work.
  void add(std::shared_ptr<Work> work, const fabric::Waiter& waiter);

  /// Removes work that has not begun. False if it has.
  bool withdraw(const Work& work);

  void work() noexcept override { work_off({}); }

 private:
  void work_off(const fabric::Waiter& waiter);
  std::shared_ptr<Work> take_out(std::shared_ptr<Work>& place, Work* before);

  ProcessMark process_;
  std::size_t most_at_a_time_;
  std::mutex mutex_;             ///< guards what follows
  std::shared_ptr<Work> first_;  ///< the first that waits; each holds the next
  Work* last_ = nullptr;
  std::size_t at_work_ = 0;  ///< how many threads work
};

}  // namespace headrace::file
