#include <gtest/gtest.h>

#include "sim/fault_case.h"
#include "sim/watchdog.h"

namespace headrace::sim {
namespace {

TEST(Faults, KeepTheContract) {
  const Budget budget = sim::budget(800);
  for (int i = 0; i < budget.cases; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    const Watchdog watchdog("Faults.KeepTheContract, " + again(seed), kCaseLimit);
    const FaultCase fault_case = make_fault_case(seed);
    const std::vector<std::string> problems = run_fault_case(fault_case);
    ASSERT_TRUE(problems.empty()) << again(seed) << ", " << fault_case.ranks() << " ranks:\n  "
                                  << problems.front();
  }
}

}  // namespace
}  // namespace headrace::sim
