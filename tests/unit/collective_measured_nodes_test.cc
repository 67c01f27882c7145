// On which nodes what was measured on some may be taken to hold.
#include <gtest/gtest.h>

#include "collective/generated/uses.h"
#include "collective/measured_nodes.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

constexpr MeasuredNodes kFourOfTwo{4, 2};

bool holds(const MeasuredNodes& measured, const NodeSizes& sizes) {
  return holds_on(measured, Operation::allgather, sizes);
}

TEST(MeasuredNodes, OneNodeHoldsOnOneWithNoMoreRanks) {
  constexpr MeasuredNodes kOneOfFour{1, 4};
  EXPECT_TRUE(holds(kOneOfFour, {1, 2, 2}));
  EXPECT_TRUE(holds(kOneOfFour, {1, 4, 4}));
  EXPECT_FALSE(holds(kOneOfFour, {1, 5, 5}));
  EXPECT_FALSE(holds(kOneOfFour, {2, 2, 2}));
}

TEST(MeasuredNodes, OneNodeWithoutNumberHoldsOnAnyOne) {
  EXPECT_TRUE(holds(kOneNode, {1, 2, 2}));
  EXPECT_TRUE(holds(kOneNode, {1, 64, 64}));
  EXPECT_FALSE(holds(kOneNode, {2, 2, 2}));
}

TEST(MeasuredNodes, OfTheShippedTableAreThoseOfItsRanks) {
  for (const Use& use : kUses) EXPECT_GE(use.nodes.ranks, 2) << name_of(use.operation);
}

TEST(MeasuredNodes, SeveralHoldOnNoMoreNodes) {
  EXPECT_FALSE(holds(kFourOfTwo, {1, 8, 8}));
  EXPECT_TRUE(holds(kFourOfTwo, {2, 2, 2}));
  EXPECT_TRUE(holds(kFourOfTwo, {4, 2, 2}));
  EXPECT_FALSE(holds(kFourOfTwo, {5, 2, 2}));
}

TEST(MeasuredNodes, SeveralHoldWhereEachNodeHasAsManyRanks) {
  EXPECT_TRUE(holds(kFourOfTwo, {4, 16, 16}));
  EXPECT_TRUE(holds(kFourOfTwo, {3, 2, 5}));
  EXPECT_FALSE(holds(kFourOfTwo, {3, 1, 5}));
  EXPECT_FALSE(holds({4, 8}, {4, 7, 9}));
}

TEST(MeasuredNodes, WhatSparesNoBytesHoldsOnSuchNodesAlone) {
  for (const Operation operation :
       {Operation::gather, Operation::gatherv, Operation::scatter, Operation::scatterv,
        Operation::alltoallv, Operation::alltoallw}) {
    EXPECT_TRUE(holds_on(kFourOfTwo, operation, {4, 2, 2}));
    for (const NodeSizes& other :
         {NodeSizes{3, 2, 2}, NodeSizes{4, 3, 3}, NodeSizes{4, 2, 3}, NodeSizes{4, 1, 2}}) {
      EXPECT_FALSE(holds_on(kFourOfTwo, operation, other));
    }
    EXPECT_TRUE(holds_on(kSeveralNodes, operation, {7, 1, 3}));
  }
}

TEST(MeasuredNodes, WhatSparesBytesHoldsOnOthers) {
  for (const Operation operation :
       {Operation::bcast, Operation::reduce, Operation::allgather, Operation::allgatherv,
        Operation::reduce_scatter, Operation::reduce_scatter_block}) {
    EXPECT_TRUE(holds_on(kFourOfTwo, operation, {3, 2, 8}));
  }
}

TEST(MeasuredNodes, WithoutNumbersAllSeveralCount) {
  EXPECT_TRUE(holds(kSeveralNodes, {2, 1, 1}));
  EXPECT_TRUE(holds(kSeveralNodes, {1000, 1, 128}));
  EXPECT_FALSE(holds(kSeveralNodes, {1, 2, 2}));
}

TEST(MeasuredNodes, AreCountedFromTheShape) {
  const Layout uneven({{0, 2, 5}, {1}, {3, 4}});
  const NodeSizes sizes = node_sizes(uneven.shape_of(4));
  EXPECT_EQ(sizes.nodes, 3);
  EXPECT_EQ(sizes.least, 1);
  EXPECT_EQ(sizes.most, 3);
}

TEST(MeasuredNodes, AreReadFromHeaders) {
  MeasuredNodes nodes;
  ASSERT_TRUE(read_nodes("4x2", nodes));
  EXPECT_EQ(nodes, kFourOfTwo);
  ASSERT_TRUE(read_nodes("1024x128", nodes));
  EXPECT_EQ(nodes, (MeasuredNodes{1024, 128}));
  for (const char* const bad :
       {"", "4", "x", "4x", "x2", "1x2", "4x0", "04x2", "4x02", "-4x2", "+4x2", "4x2x2", "4X2",
        " 4x2", "4x2 ", "4 x 2", "99999999999x2", "4x99999999999", "16777217x2"}) {
    EXPECT_FALSE(read_nodes(bad, nodes)) << bad;
  }
}

TEST(MeasuredNodes, OfOneNodeAreReadFromHeaders) {
  MeasuredNodes nodes;
  ASSERT_TRUE(read_ranks("8", nodes));
  EXPECT_EQ(nodes, (MeasuredNodes{1, 8}));
  for (const char* const bad : {"", "0", "1", "-2", "02", "4x2", "eight", "99999999999"}) {
    EXPECT_FALSE(read_ranks(bad, nodes)) << bad;
  }
}

TEST(MeasuredNodes, AreShown) {
  EXPECT_EQ(on_text(kFourOfTwo), " on 4 nodes of 2 ranks");
  EXPECT_EQ(on_text({4, 2, true}), " on 4 nodes of 2 ranks with fewer cores");
  EXPECT_EQ(on_text({1, 2}), " with 2 ranks on one node");
  EXPECT_EQ(on_text({1, 8, true}), " with 8 ranks on one node with fewer cores");
  EXPECT_EQ(on_text({3, 1}), " on 3 nodes of 1 rank");
  EXPECT_EQ(on_text(kOneNode), "");
  EXPECT_EQ(on_text(kSeveralNodes), "");
}

}  // namespace
}  // namespace headrace::collective
