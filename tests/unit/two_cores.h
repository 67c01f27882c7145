#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <vector>

namespace headrace {

/// Keeps the calling thread on one core.
inline void stay_on(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

/// Two cores that this process may use, or fewer.
inline std::vector<int> two_cores() {
  cpu_set_t all;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return cores;
  for (int core = 0; core < 32 && cores.size() < 2; ++core) {
    if (CPU_ISSET(core, &all)) cores.push_back(core);
  }
  return cores;
}

}  // namespace headrace
