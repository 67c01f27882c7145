#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "file/exchange_planner.h"

namespace headrace::file {
namespace {

constexpr ByteCount kStripe = 1 << 20;

/// Nodes of 8 ranks whose pieces lie between each other, from `begin` on.
std::vector<NodePart> parts_from(FileOffset begin, int nodes) {
  std::vector<NodePart> parts(static_cast<std::size_t>(nodes));
  for (FileOffset node = 0; node < nodes; ++node) {
    NodePart& part = parts[static_cast<std::size_t>(node)];
    part.begin = begin + node * 10'000;
    part.end = begin + (64 << 20) - (nodes - 1 - node) * 10'000;
    part.bytes = (64 << 20) / nodes;
    part.stretches = part.bytes / 10'000;
    part.granule = 16;
    part.window_size = kStripe;
    part.places = part.leaders = 4;
  }
  return parts;
}

DomainHints stripes(std::int64_t count, std::int64_t aggregators) {
  DomainHints domains;
  domains.stripe = kStripe;
  domains.stripe_count = count;
  domains.large = kStripe;
  domains.aggregators.count = aggregators;
  return domains;
}

TEST(ExchangePlanner, JoinsWindowsOnlyWhereALeadersNextIsNear) {
  const auto most_joined = [](std::int32_t slots, std::int64_t aggregators,
                              std::int32_t direction) {
    ExchangePlanner planner(4);
    auto parts = parts_from(0, 4);
    for (NodePart& part : parts) {
      part.slots = slots;
      part.direction = direction;
    }
    parts.back().slots += 1;
    EXPECT_TRUE(
        planner.decide(parts, policy::PathHint::automatic, stripes(aggregators, aggregators))
            .is_chosen);
    planner.make_plan();
    return planner.plan().most_joined();
  };
  EXPECT_EQ(most_joined(8, 4, NodePart::kWrites), 2U);
  EXPECT_EQ(most_joined(7, 4, NodePart::kWrites), 1U);
  EXPECT_EQ(most_joined(8, 4, NodePart::kReads), 1U);
  // Two aggregators a node, a leader for each; then some nodes with one, whose leaders take turns.
  EXPECT_EQ(most_joined(16, 8, NodePart::kWrites), 2U);
  EXPECT_EQ(most_joined(15, 8, NodePart::kWrites), 1U);
  EXPECT_EQ(most_joined(16, 6, NodePart::kWrites), 1U);
}

TEST(ExchangePlanner, GivesAsManyLeadersAsAskedFor) {
  ExchangePlanner planner(4);
  const auto parts = parts_from(0, 4);
  const auto leaders_for = [&](std::int64_t aggregators) {
    EXPECT_TRUE(
        planner.decide(parts, policy::PathHint::automatic, stripes(4, aggregators)).is_chosen);
    planner.make_plan();
    const ExchangeChoice& choice = planner.choice();
    EXPECT_EQ(planner.plan().leaders(), choice.leading.leaders);
    std::set<std::pair<int, int>> used;
    for (std::int64_t window = 0; window < planner.plan().count(); ++window) {
      used.emplace(planner.plan().owner_of(window), planner.plan().leader_of(window));
    }
    // Each leader has windows of its own.
    EXPECT_EQ(std::ssize(used), std::min<std::int64_t>(4, std::max<std::int64_t>(1, aggregators)) *
                                    choice.leading.leaders);
    return choice.leading.leaders;
  };
  EXPECT_EQ(leaders_for(8), 2);
  EXPECT_EQ(leaders_for(16), 4);
  EXPECT_EQ(leaders_for(9), 2) << "a multiple of the stripes";
  EXPECT_EQ(leaders_for(4), 1);
  EXPECT_EQ(leaders_for(2), 1);
}

TEST(ExchangePlanner, PreparesLeadersForAbsurdWishes) {
  constexpr std::int64_t kAbsurd = std::numeric_limits<std::int64_t>::max();
  DomainHints domains = stripes(4, 0);
  domains.aggregators.multiplier = kAbsurd;
  EXPECT_EQ(leaders_to_prepare(domains, 4, 8, 8), 4);
  EXPECT_EQ(leaders_to_prepare(stripes(4, kAbsurd), 4, 8, 8), 4);
  domains.aggregators.multiplier = 2;
  EXPECT_EQ(leaders_to_prepare(domains, 4, 8, 8), 2);
}

TEST(ExchangePlanner, PlansAnewOnlyWhatIsNew) {
  ExchangePlanner planner(4);
  const auto plan = [&](const std::vector<NodePart>& parts, const DomainHints& domains) {
    const bool is_chosen = planner.decide(parts, policy::PathHint::automatic, domains).is_chosen;
    const bool had_plan = planner.has_plan();
    if (is_chosen) planner.make_plan();
    return had_plan;
  };
  const DomainHints domains = stripes(4, 0);
  EXPECT_FALSE(plan(parts_from(0, 4), domains));
  EXPECT_TRUE(plan(parts_from(0, 4), domains));
  EXPECT_FALSE(plan(parts_from(64 << 20, 4), domains));
  EXPECT_EQ(planner.plan().range_of(0).begin, 64 << 20);
  auto fewer = parts_from(64 << 20, 4);
  fewer[2].window_size = 0;
  EXPECT_FALSE(plan(fewer, domains));
  EXPECT_EQ(planner.choice().decision.reason, policy::ExchangeReason::no_memory);
  EXPECT_FALSE(plan(parts_from(0, 4), domains));
  EXPECT_EQ(planner.plan().range_of(0).begin, 0);
  // Other hints, other owners.
  EXPECT_FALSE(plan(parts_from(0, 4), stripes(4, 1)));
  for (std::int64_t window = 0; window < planner.plan().count(); ++window) {
    ASSERT_EQ(planner.plan().owner_of(window), 0);
  }
  EXPECT_FALSE(plan(parts_from(0, 4), domains));
  EXPECT_EQ(planner.plan().owner_of(1), 1);
  planner.forget_plan();
  EXPECT_FALSE(plan(parts_from(0, 4), domains));
}

TEST(ExchangePlanner, ReadsByRunsWhereNoStripesShareATarget) {
  ExchangePlanner planner(4);
  const auto owners = [&](std::int64_t direction, const DomainHints& domains) {
    auto parts = parts_from(0, 4);
    for (NodePart& part : parts) part.direction = direction;
    EXPECT_TRUE(planner.decide(parts, policy::PathHint::automatic, domains).is_chosen);
    planner.make_plan();
    std::vector<int> found;
    for (int window = 0; window < 6; ++window) found.push_back(planner.plan().owner_of(window));
    return found;
  };
  const std::vector<int> in_turn{0, 1, 2, 3, 0, 1};
  const std::vector<int> in_runs{0, 0, 1, 1, 2, 2};
  EXPECT_EQ(owners(NodePart::kReads, stripes(0, 0)), in_runs);
  EXPECT_EQ(owners(NodePart::kWrites, stripes(0, 0)), in_turn) << "owners stay for the file's life";
  EXPECT_EQ(owners(NodePart::kReads, stripes(4, 0)), in_turn) << "each reads from one target";
}

/// Buffers that were made for fewer aggregators.
TEST(ExchangePlanner, TakesSmallerWindowsWhereHintsWantMoreAggregators) {
  ExchangePlanner planner(4);
  auto parts = parts_from(0, 4);
  for (NodePart& part : parts) part.window_size = 4 * kStripe;
  DomainHints domains = stripes(4, 4);
  const auto window_for = [&](ByteCount window) {
    domains.window = window;
    EXPECT_TRUE(planner.decide(parts, policy::PathHint::automatic, domains).is_chosen);
    return planner.choice().facts.window;
  };
  EXPECT_EQ(window_for(kStripe), kStripe);
  EXPECT_EQ(window_for(4 * kStripe), 4 * kStripe);
  EXPECT_EQ(window_for(8 * kStripe), 4 * kStripe) << "there is no memory for more";
}

/// Stripes that are larger than a buffer.
TEST(ExchangePlanner, SharesOutWholeStripesOnRequest) {
  const auto owners = [](plan::Alignment alignment) {
    ExchangePlanner planner(2);
    auto parts = parts_from(0, 2);
    for (NodePart& part : parts) part.end = part.bytes = 12 << 20;
    DomainHints domains = stripes(3, 0);
    domains.stripe = 4 << 20;
    domains.alignment = alignment;
    EXPECT_TRUE(planner.decide(parts, policy::PathHint::exchanged, domains).is_chosen);
    planner.make_plan();
    std::vector<int> found;
    for (int window = 0; window < 12; ++window) found.push_back(planner.plan().owner_of(window));
    return found;
  };
  EXPECT_EQ(owners(plan::Alignment::stripes), (std::vector{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(owners(plan::Alignment::even), (std::vector{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace headrace::file
