#include <gtest/gtest.h>

#include "record/region_stack.h"

namespace headrace::record {
namespace {

class Regions : public ::testing::Test {
 protected:
  Regions() { stack.attach(mark); }

  static RegionItem fresh(std::uint32_t note) { return {note, 0, 0, 0, 0, 0}; }

  RegionMark mark{};
  RegionItem outer = fresh(4);
  RegionItem inner = fresh(7);
  RegionStack stack;
};

TEST_F(Regions, HaveTheirOwnTimeAndThatOfTheRegionsInThem) {
  stack.begin(1, outer, 100, 1);
  stack.begin(2, inner, 130, 1);
  EXPECT_EQ(stack.end(2, 150), RegionStack::End::matched);
  EXPECT_EQ(stack.end(1, 160), RegionStack::End::matched);
  EXPECT_EQ(outer.ticks, 60);
  EXPECT_EQ(outer.own, 40);
  EXPECT_EQ(inner.ticks, 20);
  EXPECT_EQ(inner.own, 20);
  EXPECT_EQ(outer.entries, 1);
  EXPECT_EQ(outer.open, 0U);
  EXPECT_EQ(mark.mismatched, 0);
}

TEST_F(Regions, TellRowsWhichOneIsTheInnermost) {
  EXPECT_EQ(stack.region(), 0U);
  stack.begin(1, outer, 0, 1);
  EXPECT_EQ(stack.region(), 5U);
  stack.begin(2, inner, 0, 1);
  EXPECT_EQ(stack.region(), 8U);
  EXPECT_EQ(mark.region, 8U);
  stack.end(2, 0);
  EXPECT_EQ(stack.region(), 5U);
  stack.end(1, 0);
  EXPECT_EQ(stack.region(), 0U);
}

TEST_F(Regions, ThatAreEnteredInThemselvesCountTheirTimeOnce) {
  stack.begin(1, outer, 100, 1);
  stack.begin(1, outer, 110, 1);
  stack.end(1, 130);
  EXPECT_EQ(outer.open, 1U);
  stack.end(1, 150);
  EXPECT_EQ(outer.ticks, 50);
  EXPECT_EQ(outer.own, 50);
  EXPECT_EQ(outer.entries, 2);
}

TEST_F(Regions, AreNotHarmedByTheEndOfOneThatIsNotOpen) {
  EXPECT_EQ(stack.end(3, 5), RegionStack::End::not_open);
  stack.begin(1, outer, 10, 1);
  EXPECT_EQ(stack.end(2, 20), RegionStack::End::not_open);
  EXPECT_EQ(stack.depth(), 1U);
  EXPECT_EQ(stack.end(1, 30), RegionStack::End::matched);
  EXPECT_EQ(outer.ticks, 20);
  EXPECT_EQ(mark.mismatched, 2);
}

TEST_F(Regions, EndWithTheOneAroundThem) {
  stack.begin(1, outer, 10, 1);
  stack.begin(2, inner, 20, 1);
  EXPECT_EQ(stack.end(1, 50), RegionStack::End::with_inner);
  EXPECT_EQ(stack.depth(), 0U);
  EXPECT_EQ(outer.ticks, 40);
  EXPECT_EQ(outer.own, 10);
  EXPECT_EQ(inner.ticks, 30);
  EXPECT_EQ(inner.open, 0U);
  EXPECT_EQ(mark.mismatched, 1);
}

TEST_F(Regions, EndWithTheirThread) {
  stack.begin(1, outer, 10, 1);
  stack.begin(2, inner, 20, 1);
  stack.end_all(30);
  EXPECT_EQ(outer.ticks, 20);
  EXPECT_EQ(inner.ticks, 10);
  EXPECT_EQ(stack.region(), 0U);
  EXPECT_EQ(mark.mismatched, 0);
}

TEST_F(Regions, BeyondTheGreatestDepthAreTheOuterOnes) {
  constexpr int kDeep = static_cast<int>(RegionStack::kMostDepth) + 10;
  for (int i = 0; i < kDeep; ++i) stack.begin(i, i == 0 ? outer : inner, i, 1);
  EXPECT_EQ(stack.depth(), RegionStack::kMostDepth);
  EXPECT_EQ(inner.entries, static_cast<std::int64_t>(RegionStack::kMostDepth) - 1);
  for (int i = kDeep; i-- > 0;) {
    EXPECT_EQ(stack.end(i, 2 * kDeep - i), RegionStack::End::matched);
  }
  EXPECT_EQ(stack.depth(), 0U);
  EXPECT_EQ(outer.ticks, 2 * kDeep);
  EXPECT_EQ(mark.mismatched, 0);
}

TEST_F(Regions, AreNotCountedAsEnteredWhileRecordingIsOff) {
  stack.begin(1, outer, 10, 0);
  stack.end(1, 10);
  EXPECT_EQ(outer.entries, 0);
  EXPECT_EQ(outer.ticks, 0);
}

}  // namespace
}  // namespace headrace::record
