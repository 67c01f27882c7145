// The order in which a benchmark measures several ways: none is favoured by its place.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collectives/turns.h"

namespace headrace::bench::collectives {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

std::vector<std::size_t> order_of(std::size_t round, std::size_t count) {
  std::vector<std::size_t> order;
  for (std::size_t turn = 0; turn < count; ++turn) order.push_back(way_of(round, turn, count));
  return order;
}

class Turns : public testing::TestWithParam<std::size_t> {};

TEST_P(Turns, HasEachWayOnceARound) {
  for (std::size_t round = 0; round < 40; ++round) {
    const auto order = order_of(round, GetParam());
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), GetParam());
    for (const std::size_t way : order) EXPECT_LT(way, GetParam());
  }
}

TEST_P(Turns, PutsEitherOfAPairFirstEquallyOften) {
  std::map<Pair, int> before;
  for (std::size_t round = 0; round < 40; ++round) {
    const auto order = order_of(round, GetParam());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) ++before[{order[i], order[j]}];
    }
  }
  EXPECT_EQ(before.size(), GetParam() * (GetParam() - 1));
  for (const auto& [pair, times] : before) EXPECT_EQ(times, 20) << pair.first << pair.second;
}

TEST_P(Turns, LetsEachFollowEachOtherEquallyOften) {
  std::map<Pair, int> followed;
  for (std::size_t round = 0; round < 40; ++round) {
    const auto order = order_of(round, GetParam());
    for (std::size_t i = 1; i < order.size(); ++i) ++followed[{order[i - 1], order[i]}];
  }
  const auto count = static_cast<int>(GetParam());
  EXPECT_EQ(followed.size(), GetParam() * (GetParam() - 1));
  for (const auto& [pair, times] : followed) {
    EXPECT_EQ(times, 40 / count) << pair.first << pair.second;
  }
}

INSTANTIATE_TEST_SUITE_P(TwoAndFourWays, Turns, testing::Values(2, 4));

}  // namespace
}  // namespace headrace::bench::collectives
