#include <gtest/gtest.h>

#include "policy/leaders.h"

namespace headrace::policy {
namespace {

TEST(Leaders, AreAsManyAsAggregatorsAskedFor) {
  LeaderFacts facts{.nodes = 4, .ranks = 8, .cores = 2, .most = 4, .asked = 8, .objects = 4};
  EXPECT_EQ(leaders_to_prepare(facts), 2);
  facts.asked = 9;
  EXPECT_EQ(leaders_to_prepare(facts), 3);
  facts.asked = 1000;
  EXPECT_EQ(leaders_to_prepare(facts), 4) << "the engine can do with no more";
  facts.ranks = 3;
  EXPECT_EQ(leaders_to_prepare(facts), 3);
  facts.asked = 4;
  EXPECT_EQ(leaders_to_prepare(facts), 1);
  facts.asked = 2;
  EXPECT_EQ(leaders_to_prepare(facts), 1);
}

TEST(Leaders, NeedCoresAndObjectsWhereNobodyAsks) {
  LeaderFacts facts{.nodes = 4, .ranks = 64, .cores = 64, .most = 4, .asked = 0, .objects = 16};
  EXPECT_EQ(leaders_to_prepare(facts), 4);
  facts.cores = 16;
  EXPECT_EQ(leaders_to_prepare(facts), 2);
  facts.cores = 2;
  EXPECT_EQ(leaders_to_prepare(facts), 1);
  facts.cores = 64;
  facts.objects = 5;
  EXPECT_EQ(leaders_to_prepare(facts), 2);
  facts.objects = 0;
  EXPECT_EQ(leaders_to_prepare(facts), 1);
}

TEST(Leaders, AreChosenByTheSizeOfACall) {
  const LeaderDecision small = decide_leaders(4, 4, 0, 100'000);
  EXPECT_EQ(small.leaders, 1);
  EXPECT_EQ(explain(small), "one leader a node: the call is small");
  const LeaderDecision large = decide_leaders(4, 4, 0, ByteCount{1} << 30);
  EXPECT_EQ(large.leaders, 4);
  EXPECT_EQ(explain(large), "4 leaders a node: estimated to be the fastest");
  const LeaderDecision asked = decide_leaders(4, 3, 2, 1);
  EXPECT_EQ(asked.leaders, 2);
  EXPECT_EQ(explain(asked), "2 leaders a node: asked for by hint");
  EXPECT_EQ(decide_leaders(4, 1, 2, ByteCount{1} << 30).leaders, 1);
  EXPECT_EQ(explain(decide_leaders(4, 1, 2, 1)), "");
}

}  // namespace
}  // namespace headrace::policy
