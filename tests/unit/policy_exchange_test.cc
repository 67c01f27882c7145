#include <gtest/gtest.h>

#include "policy/exchange.h"

namespace headrace::policy {
namespace {

/// Four nodes with pieces of 20,000 bytes in turn.
ExchangeFacts interleaved() {
  return {.nodes = 4,
          .bytes = 64 << 20,
          .span = 64 << 20,
          .reaches = ByteCount{4} * ((64 << 20) - 60'000),
          .stretches = (64 << 20) / 20'000,
          .window = 1 << 20,
          .large = 1 << 18,
          .has_memory = true,
          .agrees = true};
}

ExchangeReason reason_for(const ExchangeFacts& facts) {
  const ExchangeDecision decision = decide_exchange(PathHint::automatic, facts);
  EXPECT_EQ(decision.is_chosen, decision.reason == ExchangeReason::fine);
  EXPECT_NE(explain(decision, facts), "");
  return decision.reason;
}

TEST(ExchangePolicy, JoinsWindowsWhereTwoOfEachAggregatorHaveBuffers) {
  constexpr ByteCount kSmall = ByteCount{1} << 20;
  EXPECT_EQ(joined_within(kSmall, 8, 4), 8);
  EXPECT_EQ(joined_within(kSmall, 16, 4), 8);
  EXPECT_EQ(joined_within(kSmall, 7, 4), 0);
  EXPECT_EQ(joined_within(kSmall, 2, 1), 2);
  EXPECT_EQ(joined_within(kSmall, 1, 1), 0);
  EXPECT_EQ(joined_within(kSmall, 0, 1), 0);  // no room in messages
  EXPECT_EQ(joined_within(kSmall + 4096, 8, 4), 0);
}

TEST(ExchangePolicy, ExchangesSmallPiecesOfSeveralNodes) {
  EXPECT_EQ(reason_for(interleaved()), ExchangeReason::fine);
  EXPECT_EQ(explain(decide_exchange(PathHint::automatic, interleaved()), interleaved()),
            "pieces of 20 KiB of a node lie between those of 3 others in buffers of 1.0 MiB");
}

TEST(ExchangePolicy, LeavesNodesAloneThatNeedNoOther) {
  ExchangeFacts blocks = interleaved();
  blocks.reaches = blocks.span;
  EXPECT_EQ(reason_for(blocks), ExchangeReason::apart);
  ExchangeFacts one = interleaved();
  one.nodes = 1;
  EXPECT_EQ(reason_for(one), ExchangeReason::one_node);
  ExchangeFacts large = interleaved();
  large.stretches = large.bytes / large.large;
  EXPECT_EQ(reason_for(large), ExchangeReason::large_pieces);
  ExchangeFacts sparse = interleaved();
  sparse.bytes /= 10;
  sparse.stretches /= 10;
  EXPECT_EQ(reason_for(sparse), ExchangeReason::far_apart);
}

TEST(ExchangePolicy, ReadsNoGigabytesForSomeBytes) {
  ExchangeFacts sparse = interleaved();
  sparse.reads = true;
  sparse.bytes = sparse.span / 999;
  EXPECT_TRUE(decide_exchange(PathHint::exchanged, sparse).is_chosen);
  sparse.bytes = sparse.span / 1001;
  EXPECT_EQ(decide_exchange(PathHint::exchanged, sparse).reason, ExchangeReason::far_apart);
  // Writes cost what they hold.
  sparse.reads = false;
  EXPECT_TRUE(decide_exchange(PathHint::exchanged, sparse).is_chosen);
}

TEST(ExchangePolicy, TakesLargerBuffersForMoreNodes) {
  EXPECT_EQ(usual_buffer_between(2), 1 << 20);
  EXPECT_EQ(usual_buffer_between(31), 1 << 20);
  EXPECT_EQ(usual_buffer_between(32), 2 << 20);
  EXPECT_EQ(usual_buffer_between(10'000), 2 << 20);
}

TEST(ExchangePolicy, NeverGoesWhereItCannot) {
  for (const PathHint wish : {PathHint::automatic, PathHint::exchanged}) {
    ExchangeFacts facts = interleaved();
    facts.has_memory = false;
    EXPECT_FALSE(decide_exchange(wish, facts).is_chosen);
    facts = interleaved();
    facts.agrees = false;
    EXPECT_FALSE(decide_exchange(wish, facts).is_chosen);
    facts = interleaved();
    facts.bytes = 0;
    EXPECT_FALSE(decide_exchange(wish, facts).is_chosen);
  }
  ExchangeFacts blocks = interleaved();
  blocks.reaches = blocks.span;
  EXPECT_TRUE(decide_exchange(PathHint::exchanged, blocks).is_chosen);
}

TEST(ExchangePolicy, FollowsFactsOfTheView) {
  ViewFacts facts{.node_ranks = 2,
                  .smallest_mean_piece = 10'000,
                  .nodes = 4,
                  .stripe = 1 << 20,
                  .is_coherent = true};
  const auto path_of = [&](PathHint wish) {
    return decide_view(Direction::write, wish, facts).path;
  };
  EXPECT_EQ(path_of(PathHint::automatic), Path::exchanged);
  EXPECT_EQ(path_of(PathHint::exchanged), Path::exchanged);
  EXPECT_EQ(path_of(PathHint::staged), Path::staged);
  facts.stripe = 0;
  facts.window = 1 << 18;
  EXPECT_EQ(path_of(PathHint::automatic), Path::exchanged)
      << "nodes share it, stripes are not known";
  facts.smallest_mean_piece = 1 << 18;
  EXPECT_NE(path_of(PathHint::automatic), Path::exchanged) << "pieces fill what a node moves";
  facts.smallest_mean_piece = 10'000;
  facts.window = 0;
  EXPECT_EQ(path_of(PathHint::exchanged), Path::exchanged);
  facts.nodes = 1;
  facts.stripe = 1 << 20;
  EXPECT_EQ(path_of(PathHint::automatic), Path::staged);
  EXPECT_EQ(path_of(PathHint::exchanged), Path::staged) << "one node has nobody to exchange with";
  facts.nodes = 4;
  facts.is_monotonic = false;
  EXPECT_EQ(path_of(PathHint::exchanged), Path::direct);
}

TEST(ExchangePolicy, LeavesFilesToTheirNodesWhereAnotherMayNotSeeTheirWrites) {
  const ViewFacts facts{
      .node_ranks = 2, .smallest_mean_piece = 10'000, .nodes = 4, .stripe = 1 << 20};
  for (const PathHint wish : {PathHint::automatic, PathHint::exchanged}) {
    const ViewDecision decision = decide_view(Direction::write, wish, facts);
    EXPECT_EQ(decision.path, Path::staged);
    EXPECT_NE(explain(decision, facts).find("HEADRACE_COHERENT_FS"), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace::policy
