#include <gtest/gtest.h>

#include "base/settings.h"
#include "sim/runner.h"
#include "sim/watchdog.h"
#include "support/gpu/fake_driver.h"

namespace headrace::sim {
namespace {

/// About half of the buffers.
void put_on_devices(Scenario& scenario) {
  for (FileStory& story : scenario.files) {
    for (std::size_t number = 0; number < story.steps.size(); ++number) {
      std::vector<Part>& parts = story.steps[number].step.parts;
      for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        parts[rank].on_device = random_byte(number, static_cast<std::int64_t>(rank)) % 2 == 0;
      }
    }
  }
}

/// As Engine.DoesWhatTheModelDoes, with buffers that the CPU cannot touch: whoever does ends the
/// process.
TEST(Devices, AreReachedByTheirDriverAlone) {
  const Budget budget = sim::budget(200);
  for (int i = 0; i < budget.cases; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    const Watchdog watchdog("Devices.AreReachedByTheirDriverAlone, " + again(seed), kCaseLimit);
    Scenario scenario = make_scenario(seed);
    put_on_devices(scenario);
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
