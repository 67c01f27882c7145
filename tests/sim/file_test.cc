#include <gtest/gtest.h>

#include "base/settings.h"
#include "record/summary.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

namespace headrace::sim {
namespace {

std::string list(const std::vector<std::string>& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < 8; ++i) text += "  " + problems[i] + "\n";
  return text;
}

TEST(Engine, DoesWhatTheModelDoes) {
  const Budget budget = sim::budget(1200);
  for (int i = 0; i < budget.cases; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    const Watchdog watchdog("Engine.DoesWhatTheModelDoes, " + again(seed), kCaseLimit);
    const Scenario scenario = make_scenario(seed);
    const std::vector<std::string> problems = run_scenario(scenario);
    ASSERT_TRUE(problems.empty()) << again(seed) << ", " << scenario.ranks << " ranks:\n"
                                  << list(problems);
  }
  // A generator that stages nothing would find nothing.
  if (budget.cases < 100 || settings().shared_memory == SharedMemorySetting::none) return;
  const std::string totals = record::summary().front();
  EXPECT_EQ(totals.find("(0 % by collective buffering)"), std::string::npos) << totals;
}

/// The model must be able to fail: each of these changes one thing in what is expected.
TEST(Engine, DiffersFromAWrongModel) {
  const auto differs = [](const auto& change) {
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
      Scenario scenario = make_scenario(seed);
      if (!change(scenario)) continue;
      const Watchdog watchdog("Engine.DiffersFromAWrongModel, " + again(seed), kCaseLimit);
      return !run_scenario(scenario).empty();
    }
    return false;
  };
  const auto in_a_transfer = [](Direction direction, const auto& change) {
    return [direction, change](Scenario& scenario) {
      for (FileStory& story : scenario.files) {
        for (Step& step : story.steps) {
          if (step.kind != StepKind::transfer || step.direction != direction) continue;
          for (Request& request : step.requests) {
            if (request.bytes > 0) return change(request);
          }
        }
      }
      return false;
    };
  };
  EXPECT_TRUE(differs(in_a_transfer(Direction::read, [](Request& request) {
    request.after[static_cast<std::size_t>(request.places(1)[0])] ^= 1;
    return true;
  }))) << "a byte read";
  EXPECT_TRUE(differs(in_a_transfer(Direction::write, [](Request& request) {
    request.bytes -= 1;
    return true;
  }))) << "a count";
  EXPECT_TRUE(differs(in_a_transfer(Direction::write, [](Request& request) {
    request.pointer += 1;
    return true;
  }))) << "a pointer";
  EXPECT_TRUE(differs(in_a_transfer(Direction::write, [](Request& request) {
    request.error = ErrorClass::io;
    return true;
  }))) << "an error";
  EXPECT_TRUE(differs([](Scenario& scenario) {
    std::optional<Bytes>& after = scenario.files[0].after;
    if (!after || after->empty()) return false;
    after->back() ^= 1;
    return true;
  })) << "a byte of the file";
}

}  // namespace
}  // namespace headrace::sim
