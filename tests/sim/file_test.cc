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
  const auto in_an_access = [](bool is_write, const auto& change) {
    return [is_write, change](Scenario& scenario) {
      for (FileStory& story : scenario.files) {
        for (StoryStep& next : story.steps) {
          if (next.step.kind != StepKind::access || next.step.is_write != is_write) continue;
          for (std::size_t rank = 0; rank < next.expected.size(); ++rank) {
            if (next.expected[rank].bytes == 0) continue;
            const steps::Memory memory = make_memory(kDataSeed, next.step, static_cast<int>(rank));
            change(next.expected[rank], static_cast<std::size_t>(memory.places[0]));
            return true;
          }
        }
      }
      return false;
    };
  };
  EXPECT_TRUE(differs(in_an_access(false, [](Expected& expected, std::size_t place) {
    expected.memory[place] ^= 1;
  }))) << "a byte read";
  EXPECT_TRUE(differs(in_an_access(true, [](Expected& expected, std::size_t) {
    expected.bytes -= 1;
  }))) << "a count";
  EXPECT_TRUE(differs(in_an_access(true, [](Expected& expected, std::size_t) {
    expected.pointer += 1;
  }))) << "a pointer";
  EXPECT_TRUE(differs(in_an_access(true, [](Expected& expected, std::size_t) {
    expected.error = ErrorClass::io;
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
