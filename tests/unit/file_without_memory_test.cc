#include <gtest/gtest.h>

#include <vector>

#include "base/result.h"
#include "file/exchange_planner.h"
#include "unit/lacking.h"

namespace headrace::file {
namespace {

/// Leaders plan alike: one that lacked memory at first finds the owners that the others have.
TEST(ExchangePlannerWithoutMemory, ChoosesOwnersAnew) {
  constexpr int kNodes = 4;
  std::vector<NodePart> parts(kNodes);
  for (NodePart& part : parts) {
    part = {.begin = 0, .end = 64 << 20, .bytes = 1 << 20, .stretches = 100, .granule = 16};
    part.window_size = 1 << 20;
  }
  parts[0].places = 0;
  const DomainHints domains;
  ExchangePlanner planner(kNodes);
  std::int64_t refused = 0;
  for (bool is_planned = false; !is_planned;) {
    ASSERT_TRUE(planner.decide(parts, policy::PathHint::exchanged, domains).is_chosen);
    const allocation::Lacking memory(refused);
    is_planned = !attempt([&]() -> Error {
      planner.make_plan();
      return {};
    });
    refused += is_planned ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
  for (std::int64_t window = 0; window < planner.plan().count(); ++window) {
    EXPECT_NE(planner.plan().owner_of(window), 0) << "it may have no aggregator";
  }
}

}  // namespace
}  // namespace headrace::file
