#include <gtest/gtest.h>

#include "file/aggregator_display.h"

namespace headrace::file {
namespace {

std::vector<AggregatorNode> three_nodes(int places) {
  return {{"n0", places, {0, 3}}, {"n1", places, {1, 4}}, {"n2", places, {2, 5}}};
}

TEST(AggregatorDisplay, NamesOneOfEachNodeWithoutHints) {
  const auto lines = aggregator_lines("/a\n", three_nodes(2), DomainHints(), true);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "aggregators of '/a?': 3 for calls in which nodes exchange");
  EXPECT_EQ(lines[1], "  0: rank 0 on n0");
  EXPECT_EQ(lines[2], "  1: rank 1 on n1");
  EXPECT_EQ(lines[3], "  2: rank 2 on n2");
}

TEST(AggregatorDisplay, ObeysHints) {
  DomainHints domains;
  domains.aggregators.count = 6;
  const auto all = aggregator_lines("/a", three_nodes(2), domains, true);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[4], "  3: rank 3 on n0");
  EXPECT_EQ(all[6], "  5: rank 5 on n2");
  domains.aggregators.count = 1;
  const auto one = aggregator_lines("/a", three_nodes(2), domains, true);
  EXPECT_EQ(one[0], "aggregators of '/a': 1 for calls in which nodes exchange");
  EXPECT_EQ(one[1], "  0: rank 0 on n0");
}

TEST(AggregatorDisplay, TellsOfRanksWhoseNumberIsNotKnown) {
  DomainHints domains;
  domains.aggregators.count = 9;
  const auto lines = aggregator_lines("/a", three_nodes(3), domains, true);
  EXPECT_EQ(lines[7], "  6: the node's rank 2, counted from 0, on n0");
}

TEST(AggregatorDisplay, TellsOfAListThatFitsNoNode) {
  const auto lines = aggregator_lines("/a", three_nodes(0), DomainHints(), true);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "aggregators of '/a': 3 for calls in which nodes exchange");
  EXPECT_EQ(lines[4], "  cb_config_list gives no node of the job a place, so all may have one");
}

TEST(AggregatorDisplay, TellsWhyThereAreNone) {
  const auto alone = aggregator_lines("/a", three_nodes(2), DomainHints(), false);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_NE(alone[0].find("none between nodes"), std::string::npos);
  const auto one = aggregator_lines("/a", std::vector{three_nodes(2).front()}, DomainHints(), true);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_NE(one[0].find("all ranks, which are on n0"), std::string::npos);
}

}  // namespace
}  // namespace headrace::file
