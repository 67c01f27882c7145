#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/process_mark.h"

namespace headrace::file {

/// What a helper thread is there for.
class Job {
 public:
  virtual ~Job() = default;
  virtual void work() noexcept = 0;
};

/// Threads that work while the program computes. Each is made when a job finds no idle one, and
/// kept until stop(). All signals are blocked in them: the program's handlers run in its own
/// threads.
class HelperThreads {
 public:
  /// The process's own. They outlast static objects.
  static HelperThreads& of_process();

  /// Has a thread work at the job at once, whatever the others are at. False where none can be had:
  /// then nothing has happened.
  bool run(const std::shared_ptr<Job>& job);

  /// Waits until all jobs are done, and ends the threads. run() makes new ones afterwards.
  void stop();

 private:
  HelperThreads() = default;
  static void* live(void* first);
  bool make_thread(const std::shared_ptr<Job>& job);
  /// The program exits: what it will destroy may be in use. Waits until all threads are idle, no
  /// longer than a job may last that needs no rank which has left. No thread begins another one.
  void rest();
  std::shared_ptr<Job> next();

  ProcessMark process_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> handed_;  ///< to idle threads that have not woken yet
  std::size_t idle_ = 0;
  std::vector<pthread_t> threads_;
  bool stopping_ = false;
  bool resting_ = false;
  std::condition_variable rested_;  ///< told when a thread becomes idle
};

}  // namespace headrace::file
