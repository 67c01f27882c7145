#include "abi/flavour/backoff.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace headrace::HEADRACE_FLAVOUR {

void Backoff::wait() {
  constexpr int kYields = 400;
  constexpr long kShortestSleep = 20'000;  // nanoseconds
  constexpr long kLongestSleep = 1'000'000;
  if (waits_++ < kYields) {
    ::sched_yield();
    return;
  }
  sleep_ = std::clamp(sleep_ * 3 / 2, kShortestSleep, kLongestSleep);
  const timespec pause{0, sleep_};
  ::nanosleep(&pause, nullptr);
}

}  // namespace headrace::HEADRACE_FLAVOUR
