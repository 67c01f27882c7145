#include "base/process_mark.h"

#include <pthread.h>

#include <atomic>

namespace headrace {
namespace {

/// Forks between the process that made the first mark and this one.
std::atomic<std::uint32_t> forks = 0;

void count_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

ProcessMark::ProcessMark() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &count_fork);
  forks_ = forks.load(std::memory_order_relaxed);
}

bool ProcessMark::is_here() const {
  return forks_ == forks.load(std::memory_order_relaxed);
}

}  // namespace headrace
