#include <gtest/gtest.h>

#include <random>
#include <set>

#include "plan/aggregators.h"

namespace headrace::plan {
namespace {

std::vector<Aggregator> chosen(std::vector<int> places, std::int64_t stripes,
                               AggregatorHints wish = {}) {
  return choose_aggregators(places, stripes, wish).aggregators;
}

std::string correction(std::vector<int> places, std::int64_t stripes, AggregatorHints wish) {
  return choose_aggregators(places, stripes, wish).correction;
}

TEST(Aggregators, AreSpreadOverNodesLeadersFirst) {
  using List = std::vector<Aggregator>;
  const std::vector<int> nodes(4, 2);
  EXPECT_EQ(chosen(nodes, 4), (List{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
  EXPECT_EQ(chosen(nodes, 2), (List{{0, 0}, {2, 0}}));
  EXPECT_EQ(chosen(nodes, 8),
            (List{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(chosen(nodes, 16), chosen(nodes, 8));
  EXPECT_EQ(chosen(nodes, 2, {.multiplier = 2}), (List{{0, 0}, {2, 0}, {0, 1}, {2, 1}}));
  EXPECT_EQ(chosen(nodes, 0), chosen(nodes, 4));
}

TEST(Aggregators, OfOneObjectAreOnOneNodeWhereItHasPlaces) {
  EXPECT_EQ(chosen({1, 2, 1, 2}, 2, {.multiplier = 2}),
            (std::vector<Aggregator>{{1, 0}, {3, 0}, {1, 1}, {3, 1}}));
  EXPECT_EQ(chosen({1, 1}, 1, {.multiplier = 2}), (std::vector<Aggregator>{{0, 0}, {1, 0}}));
}

TEST(Aggregators, AreOnlyWhereNodesHavePlaces) {
  EXPECT_EQ(chosen({0, 1, 0, 1}, 0), (std::vector<Aggregator>{{1, 0}, {3, 0}}));
  EXPECT_EQ(chosen({0, 3}, 2), (std::vector<Aggregator>{{1, 0}, {1, 1}}));
  EXPECT_TRUE(chosen({0, 0}, 4).empty());
}

TEST(Aggregators, WishesAreCorrectedWithAReason) {
  const std::vector<int> nodes(4, 4);
  EXPECT_EQ(correction(nodes, 4, {.count = 8}), "");
  EXPECT_EQ(correction(nodes, 4, {.count = 7}),
            "cb_nodes=7 gives 4 aggregators (4 stripes are shared out evenly among 4)");
  EXPECT_EQ(correction(nodes, 0, {.count = 1000}),
            "cb_nodes=1000 gives 16 aggregators (the nodes have 16 places for them)");
  EXPECT_EQ(correction(nodes, 6, {.count = 1000}),
            "cb_nodes=1000 gives 12 aggregators (the nodes have 16 places for them, and 6 stripes "
            "are shared out evenly among 12)");
  EXPECT_EQ(correction(nodes, 4, {.multiplier = 3, .most_for_object = 2}),
            "cray_cb_nodes_multiplier=3 gives 8 aggregators (romio_lustre_co_ratio=2 allows 8)");
  EXPECT_EQ(
      correction(nodes, 4, {.count = std::numeric_limits<std::int64_t>::max()}),
      "cb_nodes=9223372036854775807 gives 16 aggregators (the nodes have 16 places for them)");
  EXPECT_EQ(correction(nodes, 122, {.count = 15}),
            "cb_nodes=15 gives 14 aggregators (122 stripes have no divisor near it)");
}

TEST(Aggregators, WithoutADivisorAreTheFewestForAsFewRounds) {
  // 122 = 2 * 61: two aggregators would need 61 rounds, 32 and 31 need 4.
  EXPECT_EQ(chosen(std::vector<int>(32, 1), 122).size(), 31u);
  EXPECT_EQ(chosen(std::vector<int>(32, 4), 122).size(), 122u);
  EXPECT_EQ(chosen(std::vector<int>(4, 1), 7).size(), 4u);
}

TEST(Aggregators, NeverShareAPlace) {
  std::mt19937_64 random(5);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int turn = 0; turn < 500; ++turn) {
    std::vector<int> places(number(1, 9));
    int total = 0;
    for (int& most : places) total += most = number(0, 4);
    const int stripes = number(0, 12);
    const auto list = chosen(places, stripes, {.count = number(0, 20), .multiplier = number(0, 3)});
    ASSERT_EQ(list.empty(), total == 0);
    std::set<std::pair<int, int>> seen;
    for (const Aggregator& one : list) {
      ASSERT_LT(one.place, places[one.node]);
      ASSERT_TRUE(seen.insert({one.node, one.place}).second);
    }
    for (const auto& [node, place] : seen) {
      ASSERT_TRUE(place == 0 || seen.contains({node, place - 1}));
    }
    const bool are_more = stripes > 0 && std::ssize(list) > stripes;
    ASSERT_TRUE(!are_more || std::ssize(list) % stripes == 0);
  }
}

TEST(ConfigList, SaysHowManyAHostMayHave) {
  const auto most = [](const char* text, const char* host, int ranks) {
    Result<ConfigList> list = ConfigList::parse(text);
    return list ? list.value().most_on(host, ranks) : -1;
  };
  EXPECT_EQ(most("*:1", "n1", 8), 1);
  EXPECT_EQ(most("*:*", "n1", 8), 8);
  EXPECT_EQ(most("n1:2, n2", "n1.site.org", 8), 2);
  EXPECT_EQ(most("n1:2, n2", "n2", 8), 1);
  EXPECT_EQ(most("n1:2, n2", "n3", 8), 0);
  EXPECT_EQ(most("n1:0,*:4", "n1", 8), 0);
  EXPECT_EQ(most("n1:0,*:4", "n9", 2), 2);
  EXPECT_EQ(most("n1.here:3", "n1.there", 8), 0);
  for (const char* bad : {"", ":3", "n1:", "n1:x", "n1:-1", "n1:2x", "n1,,n2", "*:99999999999"}) {
    EXPECT_EQ(most(bad, "n1", 8), -1) << bad;
  }
  EXPECT_EQ(ConfigList::parse("n1:x").error().message,
            "is no list of hosts (a count is neither a number nor * in 'n1:x'; write for example "
            "*:1 or node1:2,node2:1)");
  EXPECT_EQ(ConfigList().most_on("n1", 8), 8);
}

}  // namespace
}  // namespace headrace::plan
