// How many messages a call takes by the plans that are made for it, against those of all ranks, and
// against plain formulas.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "collective/planned_messages.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

constexpr Limits kRoomy{std::size_t{4} << 20, 4};

const Nodes kShapes[] = {
    in_blocks({2, 2}),       in_blocks({3, 1, 2, 2}),    in_blocks({1, 3, 1}),
    in_blocks({4, 4, 4, 4}), in_blocks({2, 2, 2}),       dealt_round({2, 2, 2, 2}),
    dealt_round({3, 1, 2}),  in_blocks({1, 2, 1, 2, 1}), in_blocks({2, 1, 1, 1, 1, 1, 1})};

Call call_of(const Algorithm& algorithm, std::size_t bytes, int root,
             const std::vector<std::size_t>& sizes) {
  Call call{.operation = algorithm.operation, .bytes = bytes, .root = root, .element = 8};
  if (algorithm.operation == Operation::allgatherv ||
      algorithm.operation == Operation::reduce_scatter) {
    call.bytes = bytes * sizes.size();
    call.blocks.sizes = sizes;
  } else if (algorithm.operation != Operation::bcast && algorithm.operation != Operation::reduce) {
    call.blocks.size = call.blocks.distance = bytes;
  }
  return call;
}

/// The sends of all ranks to other nodes, whoever speaks for his node. False where parcels move.
bool count(const Algorithm& algorithm, const Layout& layout, const Call& call,
           std::int64_t& messages) {
  messages = 0;
  for (int rank = 0; rank < layout.size(); ++rank) {
    Schedule schedule;
    algorithm.plan(layout.shape_of(rank), call, kRoomy, schedule);
    for (const Step& step : schedule.steps) {
      if (step.kind == Step::Kind::parcels) return false;
      if (step.kind != Step::Kind::send) continue;
      messages += layout.node_of(step.peer) != layout.node_of(rank) ? 1 : 0;
    }
  }
  return true;
}

TEST(PlannedMessages, AreThoseOfAllRanks) {
  int compared = 0;
  int untold = 0;
  for (const Nodes& nodes : kShapes) {
    const Layout layout(nodes);
    std::vector<std::size_t> sizes(static_cast<std::size_t>(layout.size()), 1024);
    for (const Algorithm* const one : algorithms()) {
      for (int root = 0; root < layout.size(); ++root) {
        const Call call = call_of(*one, 1024, root, sizes);
        if (one->obstacle(layout.shape_of(0), call, kRoomy) != nullptr) continue;
        std::int64_t expected = 0;
        const bool is_told = count(*one, layout, call, expected);
        for (int rank = 0; rank < layout.size(); ++rank) {
          const auto told = planned_messages(*one, layout.shape_of(rank), call, kRoomy);
          ASSERT_EQ(told.has_value(), is_told) << one->name;
          if (told) {
            ASSERT_EQ(*told, expected) << one->name << ", root " << root;
          }
        }
        ++(is_told ? compared : untold);
      }
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(untold, 100);
}

std::int64_t told(const Algorithm& algorithm, const Nodes& nodes, std::size_t bytes,
                  std::vector<std::size_t> sizes = {}) {
  const Layout layout(nodes);
  if (sizes.empty()) sizes.assign(static_cast<std::size_t>(layout.size()), bytes);
  const auto found = planned_messages(algorithm, layout.shape_of(layout.size() - 1),
                                      call_of(algorithm, bytes, 1, sizes), kRoomy);
  EXPECT_TRUE(found.has_value());
  return found.value_or(-1);
}

TEST(PlannedMessages, AreThoseOfTheFormulas) {
  const Nodes four = in_blocks({3, 1, 2, 2});
  EXPECT_EQ(told(nodes_allgather_ring, four, 1024), 4 * 3);
  // At distance 1 one each; at distance 2 the blocks of two nodes, which for the last node are not
  // one behind the other.
  EXPECT_EQ(told(nodes_allgather_bruck, four, 1024), 4 + 5);
  EXPECT_EQ(told(nodes_reduce_scatter, dealt_round({2, 2, 2}), 64), 3 * 2);
  EXPECT_EQ(told(nodes_bcast, four, 4096), 3);
  EXPECT_EQ(told(nodes_reduce, in_blocks({2, 2}), 4096), 1);
  EXPECT_EQ(told(node_allgather, in_blocks({4}), 64), 0);
}

TEST(PlannedMessages, OfEmptyBlocksAreNone) {
  const Nodes nodes = in_blocks({2, 2, 2});
  // The node in the middle has nothing to give.
  EXPECT_EQ(told(nodes_allgatherv_ring, nodes, 64, {64, 64, 0, 0, 64, 64}), 2 * 2);
}

TEST(PlannedMessages, AreOfAllParts) {
  const Nodes four = in_blocks({3, 1, 2, 2});
  // What nodes hand on goes in 16 parts of 32 KiB at least.
  EXPECT_EQ(told(nodes_bcast, four, std::size_t{1} << 20), 16 * 3);
  EXPECT_EQ(told(nodes_bcast, four, (std::size_t{100} << 10)), 4 * 3);
  // The ring has room for 4 MiB at a time.
  EXPECT_EQ(told(nodes_allgather_ring, four, std::size_t{1} << 20), 2 * 4 * 3);
  EXPECT_EQ(told(nodes_allgather_ring, four, (std::size_t{1} << 20) + 64), 3 * 4 * 3);
}

TEST(PlannedMessages, AreNotCountedOnManyNodes) {
  const Layout layout(in_blocks(std::vector<int>(65, 2)));
  const Call call = call_of(nodes_allgather_ring, 8, 0, {});
  EXPECT_FALSE(planned_messages(nodes_allgather_ring, layout.shape_of(0), call, kRoomy));
}

}  // namespace
}  // namespace headrace::collective
