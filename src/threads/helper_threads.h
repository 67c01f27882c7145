#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/process_mark.h"

namespace headrace::threads {

/// What a helper thread executes.
class Job {
 public:
  virtual ~Job() = default;
  virtual void work() noexcept = 0;
};

/// Threads that work while the program computes. One is made when a job finds no idle thread, and
/// kept until stop(). They block signals, so that the program's handlers run in the program's
/// threads.
class HelperThreads {
 public:
  /// The threads of this process. Never destroyed, so that they outlive static objects.
  static HelperThreads& of_process();

  /// Lets a thread execute the job at once, even if all others are busy. False if no thread can be
  /// had: then nothing has happened.
  bool run(const std::shared_ptr<Job>& job);

  /// Waits until all jobs are done, and ends the threads. A later run() makes new ones.
  void stop();

  /// Called when the program exits, since threads may use memory that it will destroy. Waits until
  /// all threads are idle, but not longer than a job may take that needs no rank that has left. No
  /// thread begins another job.
  void rest();

 private:
  HelperThreads() = default;
  static void* live(void* first);
  bool make_thread(const std::shared_ptr<Job>& job);
  std::shared_ptr<Job> next();

  ProcessMark process_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> handed_;  ///< jobs for idle threads that have not woken yet
  std::size_t idle_ = 0;
  std::vector<pthread_t> threads_;
  bool stopping_ = false;
  bool resting_ = false;
  std::condition_variable rested_;  ///< notified when a thread becomes idle
};

}  // namespace headrace::threads
