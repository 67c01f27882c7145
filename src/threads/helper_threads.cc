#include "threads/helper_threads.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "base/blocked_signals.h"
#include "base/settings.h"
#include "base/thread.h"
#include "topo/spare_cores.h"

namespace headrace::threads {

HelperThreads& HelperThreads::of_process() {
  static HelperThreads* const threads = new HelperThreads;
  return *threads;
}

bool HelperThreads::run(const std::shared_ptr<Job>& job) {
  if (!process_.is_here()) return false;
  // A signal's handler that ends the program comes to rest(), which needs the mutex.
  const BlockedSignals blocked;
  const std::lock_guard lock(mutex_);
  if (resting_) return false;
  try {
    if (idle_ <= handed_.size()) return make_thread(job);
    handed_.push_back(job);
  } catch (const std::bad_alloc&) {
    return false;
  }
  changed_.notify_one();
  return true;
}

bool HelperThreads::make_thread(const std::shared_ptr<Job>& job) {
  // Reads the environment here, on a thread of the program: elsewhere another thread may be
  // changing it.
  topo::ranks_on_node();
  auto first = std::make_unique<std::shared_ptr<Job>>(job);
  threads_.reserve(threads_.size() + 1);
  pthread_t thread;
  if (!start_thread(thread, &live, first.get())) return false;
  static_cast<void>(first.release());
  // Runs before the destructors of static objects that the program made before, which often hold
  // buffers.
  [[maybe_unused]] static const int registered = std::atexit([] { of_process().rest(); });
  threads_.push_back(thread);
  return true;
}

void* HelperThreads::live(void* first) {
  if (settings().helper_cores == HelperCoresSetting::automatic) {
    topo::use_spare_cores(topo::ranks_on_node());
  }
  const std::unique_ptr<std::shared_ptr<Job>> given(static_cast<std::shared_ptr<Job>*>(first));
  for (std::shared_ptr<Job> job = std::move(*given); job; job = of_process().next()) job->work();
  return nullptr;
}

/// Waits for a job. Null if the thread is to end.
std::shared_ptr<Job> HelperThreads::next() {
  std::unique_lock lock(mutex_);
  idle_ += 1;
  rested_.notify_all();
  changed_.wait(lock, [this] { return stopping_ || !handed_.empty(); });
  idle_ -= 1;
  if (handed_.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(handed_.front());
  handed_.pop_front();
  return job;
}

void HelperThreads::rest() {
  if (!process_.is_here()) return;
  constexpr std::chrono::seconds kLongest{1};
  std::unique_lock lock(mutex_);
  if (std::exchange(resting_, true)) return;
  rested_.wait_for(lock, kLongest, [this] { return idle_ == threads_.size() && handed_.empty(); });
}

void HelperThreads::stop() {
  if (!process_.is_here()) return;
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  while (!threads_.empty()) {
    const pthread_t thread = threads_.back();
    threads_.pop_back();
    lock.unlock();
    pthread_join(thread, nullptr);
    lock.lock();
  }
  stopping_ = false;
}

}  // namespace headrace::threads
