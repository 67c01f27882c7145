#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "fabric/event.h"
#include "file/helper_threads.h"

namespace headrace::file {

/// A piece of work for helper threads. In one queue at a time.
class Work {
 public:
  virtual ~Work() = default;
  /// Must not throw. Waits for other ranks, where it must, as `waiter` says.
  virtual void run(const fabric::Waiter& waiter) = 0;

 private:
  friend class WorkQueue;
  std::shared_ptr<Work> next_;  ///< in the queue
};

/// Work that is done in the order in which it was added, by so many threads at a time at most. With
/// one thread each piece is done before the next one begins.
class WorkQueue : public Job, public std::enable_shared_from_this<WorkQueue> {
 public:
  explicit WorkQueue(std::size_t most_at_a_time);

  /// Returns at once. Only where no thread can be had the work is done here; that may wait for
  /// other ranks, as `waiter` says. Needs no memory: who adds work has told others that it comes.
  void add(std::shared_ptr<Work> work, const fabric::Waiter& waiter);

  /// Takes back work that has not begun. False where it has.
  bool withdraw(const Work& work);

  void work() noexcept override { work_off({}); }

 private:
  void work_off(const fabric::Waiter& waiter);
  std::shared_ptr<Work> take_out(std::shared_ptr<Work>& place, Work* before);

  ProcessMark process_;
  std::size_t most_at_a_time_;
  std::mutex mutex_;             ///< guards what follows
  std::shared_ptr<Work> first_;  ///< of those that wait, each of which holds the next
  Work* last_ = nullptr;
  std::size_t at_work_ = 0;  ///< threads
};

}  // namespace headrace::file
