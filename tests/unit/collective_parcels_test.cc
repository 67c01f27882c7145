// Schedules of calls in which ranks know their own sizes only, carried out by emulated ranks in any
// order, against what each rank has given each; their messages, and how many are under way.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <set>

#include "collective/parcel_room.h"
#include "collective/throttle.h"
#include "unit/collective_parcel_cases.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

void check(const Algorithm& algorithm, const Nodes& nodes, std::size_t stage, unsigned seed) {
  constexpr std::size_t kCalls = 6;
  std::mt19937 random(seed);
  World world(nodes, stage, 1 + static_cast<int>(random() % 4));
  const auto ranks = static_cast<std::size_t>(world.layout().size());
  const bool is_rooted =
      algorithm.operation != Operation::alltoallv && algorithm.operation != Operation::alltoallw;
  const Shape shape = world.layout().shape_of(0);
  const std::size_t small = is_rooted
                                ? rooted_room(shape, world.limits()).small
                                : std::max<std::size_t>(1, pair_room(shape, world.limits()).small);
  std::vector<Case> cases;
  std::vector<std::vector<RankCall>> calls(ranks);
  for (std::size_t i = 0; i < kCalls; ++i) {
    Call call{.operation = algorithm.operation};
    if (is_rooted) call.root = static_cast<int>(random() % ranks);
    if (has_common_size(call.operation)) call.bytes = random() % (small + 1);
    const bool in_place = !is_rooted && random() % 3 == 0;
    cases.push_back(make_case(call, draw_sizes(call, ranks, small, in_place, random), i, in_place));
    for (std::size_t r = 0; r < ranks; ++r) calls[r].push_back(cases[i].ranks[r]);
  }
  world.run(calls, &algorithm, {}, random);
  for (std::size_t i = 0; i < kCalls; ++i) {
    for (std::size_t r = 0; r < ranks; ++r) {
      ASSERT_EQ(calls[r][i].receive, cases[i].expected[r])
          << name_of(algorithm.operation) << " by " << algorithm.name << " on " << nodes.size()
          << " nodes, root " << calls[r][i].call.root << ", call " << i << ", rank " << r
          << ", seed " << seed;
    }
  }
}

/// In a small stage messages of several nodes have no room at once.
TEST(Parcels, ComeWhereTheyBelong) {
  std::map<std::string, int> checked;
  for (const std::size_t stage : {std::size_t{4096}, std::size_t{1} << 16}) {
    for (const Nodes& nodes : kShapes) {
      const Shape shape = Layout(nodes).shape_of(0);
      for (const Algorithm* const algorithm : algorithms()) {
        const Call call{.operation = algorithm->operation};
        if (!moves_parcels(algorithm->operation)) continue;
        if (algorithm->obstacle(shape, call, {stage}) != nullptr) continue;
        for (unsigned seed = 0; seed < 6; ++seed) {
          check(*algorithm, nodes, stage, seed);
          if (HasFatalFailure()) return;
        }
        ++checked[std::string(name_of(algorithm->operation)) + " " + std::string(algorithm->name)];
      }
    }
  }
  EXPECT_EQ(checked.size(), 12U);
}

/// One call with these sizes; the ranks, as they are afterwards.
std::unique_ptr<World> moved(const Algorithm& algorithm, const Nodes& nodes, int root,
                             const Sizes& sizes, int throttle = 8) {
  std::mt19937 random(5);
  auto world = std::make_unique<World>(nodes, std::size_t{4} << 20, throttle);
  const Case one = make_case({.operation = algorithm.operation, .root = root}, sizes, 0, false);
  std::vector<std::vector<RankCall>> calls;
  for (const RankCall& own : one.ranks) calls.push_back({own});
  world->run(calls, &algorithm, {}, random);
  for (std::size_t r = 0; r < calls.size(); ++r) {
    EXPECT_EQ(calls[r][0].receive, one.expected[r]);
  }
  return world;
}

/// Bytes before the parcels of a node: four of each rank, in whole words.
std::int64_t sizes_of(std::size_t ranks) {
  return static_cast<std::int64_t>((4 * ranks + 7) / 8 * 8);
}

TEST(Parcels, OfANodeGoInOneMessageWithARoot) {
  for (const Nodes& nodes : {in_blocks({3, 3, 3, 3}), dealt_round({4, 1, 3, 2})}) {
    const auto ranks = static_cast<std::size_t>(Layout(nodes).size());
    for (const int root : {0, 2}) {
      const auto to = static_cast<std::size_t>(root);
      Sizes gathered(ranks, std::vector<std::size_t>(ranks));
      Sizes scattered = gathered;
      std::int64_t between = 0;
      for (std::size_t node = 0; node < nodes.size(); ++node) {
        const auto own = static_cast<int>(node) == Layout(nodes).node_of(root);
        if (!own) between += sizes_of(nodes[node].size());
      }
      for (std::size_t r = 0; r < ranks; ++r) {
        gathered[r][to] = scattered[to][r] = 100 + r;
        if (Layout(nodes).node_of(static_cast<int>(r)) != Layout(nodes).node_of(root)) {
          between += static_cast<std::int64_t>(100 + r);
        }
      }
      const auto gather = moved(nodes_gatherv, nodes, root, gathered);
      EXPECT_EQ(gather->messages(), std::ssize(nodes) - 1);
      EXPECT_EQ(gather->bytes(), between);
      const auto scatter = moved(nodes_scatterv, nodes, root, scattered);
      EXPECT_EQ(scatter->messages(), std::ssize(nodes) - 1);
      EXPECT_EQ(scatter->bytes(), between);
    }
  }
}

/// One rank has more than what is put together.
TEST(Parcels, ThatAreLargeAreSentByTheirRanks) {
  const Nodes nodes = in_blocks({2, 4, 4});
  Sizes sizes(10, std::vector<std::size_t>(10));
  for (std::size_t r = 0; r < 10; ++r) sizes[r][0] = 64;
  sizes[4][0] = 300'000;
  sizes[1][0] = 300'000;
  const auto world = moved(nodes_gatherv, nodes, 0, sizes);
  EXPECT_EQ(world->messages(), 4);
  EXPECT_EQ(world->bytes(), 600'000 + 7 * 64 + 2 * sizes_of(4));
}

TEST(Parcels, ThatAreEmptyAreNotSent) {
  const Nodes nodes = in_blocks({2, 2, 2});
  Sizes sizes(6, std::vector<std::size_t>(6));
  sizes[1][4] = 8;
  EXPECT_EQ(moved(nodes_alltoallv, nodes, 0, sizes)->messages(), 1);
  sizes[1][4] = 0;
  EXPECT_EQ(moved(nodes_alltoallv, nodes, 0, sizes)->messages(), 0);
  EXPECT_EQ(moved(nodes_gatherv, nodes, 3, sizes)->messages(), 0);
}

TEST(Parcels, AreUnderWayAFewAtATime) {
  const Nodes nodes = dealt_round({4, 3, 5, 4});
  const Sizes sizes(16, std::vector<std::size_t>(16, 500));
  for (const int throttle : {1, 2, 5, 100}) {
    const auto world = moved(nodes_alltoallv, nodes, 0, sizes, throttle);
    std::size_t most = 0;
    for (int rank = 0; rank < 16; ++rank) {
      const CountingMessenger& messenger = world->messenger(rank);
      EXPECT_LE(messenger.most_sending, static_cast<std::size_t>(throttle));
      EXPECT_LE(messenger.most_receiving, static_cast<std::size_t>(throttle));
      most = std::max({most, messenger.most_sending, messenger.most_receiving});
    }
    // As many as may be, or all that there are.
    EXPECT_EQ(most, std::min<std::size_t>(static_cast<std::size_t>(throttle), 13));
  }
}

/// One rank does nothing but receive, another nothing but send.
TEST(Parcels, AreUnderWayAFewAtATimeInOneDirection) {
  Sizes sizes(12, std::vector<std::size_t>(12));
  for (std::size_t r = 2; r < 12; ++r) sizes[r][0] = sizes[1][r] = 300;
  const auto world = moved(nodes_alltoallv, in_blocks({1, 1, 5, 5}), 0, sizes, 3);
  EXPECT_EQ(world->messenger(0).most_receiving, 3U);
  EXPECT_EQ(world->messenger(1).most_sending, 3U);
}

TEST(Turns, GiveEachPairOne) {
  for (const int size : {2, 3, 8, 13}) {
    for (int rank = 0; rank < size; ++rank) {
      std::set<int> partners;
      for (int turn = 0; turn < size; ++turn) {
        const int partner = partner_in(turn, rank, size);
        EXPECT_EQ(partner_in(turn, partner, size), rank);
        partners.insert(partner);
      }
      EXPECT_EQ(partners.size(), static_cast<std::size_t>(size));
    }
  }
}

TEST(Parcels, NeedNoListOfRanks) {
  const Layout layout(in_blocks(std::vector<int>(1024, 128)));
  for (const int rank : {0, 1, 128 * 700, 128 * 700 + 77}) {
    const Shape shape = layout.shape_of(rank);
    for (const Algorithm* const algorithm : algorithms()) {
      if (!moves_parcels(algorithm->operation)) continue;
      const Call call{.operation = algorithm->operation, .root = 1};
      const Limits limits{std::size_t{4} << 20};
      if (shape.node_count == 1 || algorithm->obstacle(shape, call, limits) != nullptr) continue;
      Schedule schedule;
      algorithm->plan(shape, call, limits, schedule);
      EXPECT_LE(schedule.steps.size(), 16U) << algorithm->name;
    }
  }
}

TEST(ParcelRoom, HoldsWhatItIsFor) {
  for (const int node : {1, 2, 7, 64, 128, 1000}) {
    for (const std::size_t stage :
         {std::size_t{4096}, std::size_t{192} << 10, std::size_t{4} << 20}) {
      Shape shape;
      shape.node_size = shape.largest_node = node;
      const auto ranks = static_cast<std::size_t>(node);
      const RootedRoom room = rooted_room(shape, {stage});
      if (room.small > 0) {
        const std::size_t message = NodeMessage::header(node) + ranks * room.small;
        EXPECT_GE(room.slots, NodeMessage::header(node));
        EXPECT_GE(room.messages, room.slots + message);
        EXPECT_GE(room.message_bytes, message);
        EXPECT_LE(room.messages + room.message_bytes, stage);
      }
      const PairRoom pair = pair_room(shape, {stage});
      EXPECT_LE(ranks * ranks * pair.slot, stage);
      EXPECT_EQ(pair.small, pair.slot == 0 ? 0 : pair.slot - kPairHeader);
    }
  }
}

}  // namespace
}  // namespace headrace::collective
