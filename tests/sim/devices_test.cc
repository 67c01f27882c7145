#include <gtest/gtest.h>

#include "base/settings.h"
#include "sim/runner.h"
#include "sim/watchdog.h"
#include "support/gpu/fake_driver.h"

namespace headrace::sim {
namespace {

/// As Engine.DoesWhatTheModelDoes, with buffers that the CPU cannot touch: whoever does ends the
/// process.
TEST(Devices, AreReachedByTheirDriverAlone) {
  const Budget budget = sim::budget(200);
  for (int i = 0; i < budget.cases; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    const Watchdog watchdog("Devices.AreReachedByTheirDriverAlone, " + again(seed), kCaseLimit);
    Scenario scenario = make_scenario(seed);
    for (FileStory& story : scenario.files) story.on_devices = true;
    const std::vector<std::string> problems = run_scenario(scenario);
    ASSERT_TRUE(problems.empty()) << again(seed) << ", " << scenario.ranks
                                  << " ranks: " << problems.front();
  }
  const auto& driver = device::test::FakeDriver::installed();
  EXPECT_GT(driver.copies(), budget.cases);
  EXPECT_LE(driver.streams(), driver.copies() / 4) << "calls share streams";
}

}  // namespace
}  // namespace headrace::sim
