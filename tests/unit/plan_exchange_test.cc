#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "plan/exchange_plan.h"

namespace headrace::plan {
namespace {

/// So many nodes own windows in turn.
Owners in_turn(int count) {
  std::vector<int> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  return {std::move(nodes), 1, 0};
}

TEST(ExchangePlan, GivesWindowsToNodesInTurn) {
  const ExchangePlan plan({{0, 1000, 500}, {250, 700, 100}, {0, 0, 0}}, 100, in_turn(3));
  EXPECT_EQ(plan.count(), 10);
  EXPECT_EQ(plan.owner_of(4), 1);
  EXPECT_EQ(plan.parts_of_others(0), 0);  // the second node begins behind it
  EXPECT_EQ(plan.parts_of_others(2), 2);  // the third owns it and has no data
  EXPECT_EQ(plan.messages(0, 0), 0);
  EXPECT_EQ(plan.messages(0, 1), 3);
  EXPECT_EQ(plan.messages(1, 0), 2);
  EXPECT_EQ(plan.messages(2, 0), 0);
}

TEST(ExchangePlan, JoinsTwoWindowsOfABlock) {
  // Windows 0, 3, 6 and 9 are the first node's, and all of them the second's affair, too.
  const ExchangePlan plan({{0, 1000, 500}, {0, 1000, 500}, {300, 1000, 10}}, 100, in_turn(3), 1, 6);
  EXPECT_EQ(plan.joined_with(1, 0), 3);
  EXPECT_EQ(plan.joined_with(1, 6), 9);
  EXPECT_EQ(plan.messages(1, 0), 2);
  // The third begins behind the first window: one by itself, since the next is of another block.
  EXPECT_EQ(plan.joined_with(2, 3), -1);
  EXPECT_EQ(plan.joined_with(2, 6), 9);
  EXPECT_EQ(plan.messages(2, 0), 2);
  // Windows 1, 4 and 7.
  EXPECT_EQ(plan.messages(0, 1), 2);
}

TEST(ExchangePlan, KeepsOwnersOverCalls) {
  const ExchangePlan first({{0, 450, 450}}, 100, in_turn(3));
  const ExchangePlan second({{350, 900, 550}}, 100, in_turn(3));
  EXPECT_EQ(first.owner_of(4), second.owner_of(1));  // both [400, 500)
}

TEST(Owners, KeepToStripes) {
  const auto owners_of = [](const Owners& owners) {
    std::vector<int> found;
    for (int window = 0; window < 8; ++window) found.push_back(owners.owner_of(window));
    return found;
  };
  const std::vector<int> nodes{0, 1, 2, 3};
  // Windows of two stripes, eight targets: four pairs of targets in turn.
  EXPECT_EQ(owners_of(Owners::of_stripes(nodes, 200, 100, 8)),
            (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
  // A stripe of two windows has one owner.
  EXPECT_EQ(owners_of(Owners::of_stripes(nodes, 50, 100, 4)),
            (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  // Two aggregators on one node, and two targets more than aggregators.
  EXPECT_EQ(owners_of(Owners::of_stripes({5, 7, 5}, 100, 100, 5)),
            (std::vector<int>{5, 7, 5, 5, 7, 5, 7, 5}));
  // Runs: even shares, unless those are too long.
  EXPECT_EQ(owners_of(Owners::in_runs(nodes, 7, 4)), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(owners_of(Owners::in_runs(nodes, 100, 3)), (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(owners_of(Owners::in_runs(nodes, 2, 3)), (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Owners, ShareANodesWindowsAmongItsLeaders) {
  const auto leaders_of = [](const Owners& owners, int count) {
    std::vector<int> found;
    for (int window = 0; window < 8; ++window) found.push_back(owners.leader_of(window, count));
    return found;
  };
  // Two aggregators a node: a leader each.
  EXPECT_EQ(leaders_of(Owners({0, 1, 0, 1}, 1, 4), 2), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  // One a node: two leaders take its windows in turn.
  EXPECT_EQ(leaders_of(Owners({0, 1}, 1, 2), 2), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(leaders_of(Owners({0, 1, 0, 1}, 1, 4), 1), std::vector<int>(8, 0));
  // More aggregators than leaders.
  EXPECT_EQ(leaders_of(Owners({0, 0, 0}, 1, 3), 2), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(ExchangePlan, AgreesWithACountOfEachWindow) {
  std::mt19937_64 random(7);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int turn = 0; turn < 300; ++turn) {
    const int nodes = static_cast<int>(number(1, 6));
    std::vector<RankRange> ranges;
    for (int node = 0; node < nodes; ++node) {
      const std::int64_t begin = number(0, 500);
      const std::int64_t len = number(0, 200);
      ranges.push_back({begin, begin + len, len == 0 ? 0 : number(1, len)});
    }
    const ByteCount window_size = number(5, 60);
    std::vector<int> aggregators(static_cast<std::size_t>(number(1, 5)));
    for (int& node : aggregators) node = static_cast<int>(number(0, nodes - 1));
    const Owners owners = turn % 3 == 0   ? in_turn(nodes)
                          : turn % 3 == 1 ? Owners(aggregators, number(1, 3), number(0, 9))
                                          : Owners::even(aggregators, 0, 700 / window_size + 1);
    const std::int64_t block = number(0, 8);
    const ExchangePlan plan(ranges, window_size, owners, static_cast<int>(number(1, 4)), block);
    std::vector<std::int64_t> parts(static_cast<std::size_t>(plan.count()));
    std::int64_t pairs = 0;
    for (int node = 0; node < nodes; ++node) {
      for (int owner = 0; owner < nodes; ++owner) {
        std::int64_t found = 0;
        for (int leader = 0; leader < plan.leaders(); ++leader) {
          std::int64_t last = -1;
          std::int64_t next = plan.next(node, owner, 0, leader);
          std::int64_t joined = -1;
          for (std::int64_t window = 0; window < plan.count(); ++window) {
            if (plan.owner_of(window) != owner || plan.leader_of(window) != leader) continue;
            if (!plan.meets(node, window)) continue;
            ASSERT_EQ(next, window);
            next = plan.next(node, owner, window + 1, leader);
            last = window;
            if (node == owner) continue;
            parts[static_cast<std::size_t>(window)] += 1;
            if (window == joined) continue;
            ++found;
            joined = plan.joined_with(node, window);
            ASSERT_TRUE(block > 0 || joined < 0);
            if (joined < 0) continue;
            ASSERT_EQ(joined, next);
            ASSERT_EQ(joined / block, window / block);
          }
          ASSERT_EQ(next, -1);
          ASSERT_EQ(plan.last(node, owner, leader), last);
          if (node != owner && last >= 0) ++pairs;
        }
        ASSERT_EQ(plan.messages(node, owner), found);
      }
    }
    ASSERT_EQ(plan.traffic().pairs, pairs);
    for (std::int64_t window = 0; window < plan.count(); ++window) {
      ASSERT_EQ(plan.parts_of_others(window), parts[static_cast<std::size_t>(window)]);
    }
  }
}

}  // namespace
}  // namespace headrace::plan
