// What has room in the memory that a node's ranks share, as a whole or in parts.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "collective/algorithm.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

/// As docs/collectives.md says it.
TEST(Room, IsThereForSuchBlocks) {
  const Limits limits{std::size_t{4} << 20};
  const auto is_carried_out = [&](Operation operation, int nodes, int ranks, std::size_t block) {
    const Layout layout(in_blocks(std::vector<int>(static_cast<std::size_t>(nodes), ranks)));
    const std::size_t all = block * static_cast<std::size_t>(nodes * ranks);
    const bool is_of_block = operation == Operation::reduce_scatter_block;
    Call call{.operation = operation, .bytes = is_of_block ? block : all};
    call.blocks = {block, block, {}, {}};
    std::vector<std::size_t> sizes(static_cast<std::size_t>(nodes * ranks), block);
    if (!is_of_block) call.blocks.sizes = sizes;
    return choose(layout.shape_of(0), call, limits).algorithm != nullptr;
  };
  for (const Operation operation : {Operation::reduce_scatter, Operation::reduce_scatter_block}) {
    EXPECT_TRUE(is_carried_out(operation, 2, 8, 26214));
    EXPECT_FALSE(is_carried_out(operation, 2, 8, 26215));
    EXPECT_TRUE(is_carried_out(operation, 64, 128, 3));
    EXPECT_FALSE(is_carried_out(operation, 64, 128, 4));
    EXPECT_FALSE(is_carried_out(operation, 65, 2, 1));
  }
  EXPECT_TRUE(is_carried_out(Operation::allgatherv, 64, 128, 512));
  EXPECT_FALSE(is_carried_out(Operation::allgatherv, 64, 128, 513));
}

/// More ranks than the stage has lines of the cache.
TEST(Room, IsThereForPartsOnAnyNumberOfRanks) {
  const Limits limits{std::size_t{4} << 20};
  for (const int nodes : {512, 1024}) {
    const Layout layout(in_blocks(std::vector<int>(static_cast<std::size_t>(nodes), 128)));
    Call call{.operation = Operation::allgather, .bytes = std::size_t{1} << 20};
    call.blocks = {call.bytes, call.bytes, {}, {}};
    const std::size_t part = part_bytes(layout.shape_of(0), call, limits);
    EXPECT_EQ(part, nodes == 512 ? 64U : 32U);
    call.bytes = call.blocks.size = part;
    EXPECT_NE(choose(layout.shape_of(0), call, limits).algorithm, nullptr);
    EXPECT_EQ(part_bytes(layout.shape_of(0), call, limits), part);
  }
}

}  // namespace
}  // namespace headrace::collective
