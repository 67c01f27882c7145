#include <gtest/gtest.h>

#include "policy/slot_count.h"

namespace headrace::policy {
namespace {

constexpr ByteCount kMiB = ByteCount{1} << 20;

TEST(SlotsForRanks, AreTwoForEachOfFewAndEightForMore) {
  EXPECT_EQ(slots_for_ranks(1, 1, false), 2);
  EXPECT_EQ(slots_for_ranks(1, 3, false), 6);
  EXPECT_EQ(slots_for_ranks(1, 4, false), 8);
  EXPECT_EQ(slots_for_ranks(1, 128, false), 8);
}

TEST(SlotsForRanks, AreMoreWhereRanksTakeTurnsOnCores) {
  EXPECT_EQ(slots_for_ranks(1, 8, true), 16);
  EXPECT_EQ(slots_for_ranks(4, 8, true), 16);
  EXPECT_EQ(slots_for_ranks(40, 8, true), 80) << "no fewer than elsewhere";
}

TEST(SlotsForRanks, AreTwoForEachNode) {
  EXPECT_EQ(slots_for_ranks(2, 1, false), 8);
  EXPECT_EQ(slots_for_ranks(4, 128, false), 8);
  EXPECT_EQ(slots_for_ranks(5, 128, false), 10);
  EXPECT_EQ(slots_for_ranks(1024, 128, false), 2048);
}

TEST(SlotsOfSize, AreAsManyAsWantedWhileTheyAreSmall) {
  EXPECT_EQ(slots_of_size(8, kMiB / 4, 1), 8);
  EXPECT_EQ(slots_of_size(16, kMiB, 1), 16);
  EXPECT_EQ(slots_of_size(8, 2 * kMiB, 4), 8);
}

TEST(SlotsOfSize, AreFewerWhereTheyAreLargeButFour) {
  EXPECT_EQ(slots_of_size(16, 2 * kMiB, 1), 8);
  EXPECT_EQ(slots_of_size(8, 4 * kMiB, 4), 4);
  EXPECT_EQ(slots_of_size(8, 1024 * kMiB, 1), 4);
  EXPECT_EQ(slots_of_size(3, 1024 * kMiB, 1), 3) << "no more than wanted";
}

TEST(SlotsOfSize, AreAsManyAsNodesWithin32MiB) {
  EXPECT_EQ(slots_of_size(12, 4 * kMiB, 6), 6);
  EXPECT_EQ(slots_of_size(16, 4 * kMiB, 8), 8);
  EXPECT_EQ(slots_of_size(18, 4 * kMiB, 9), 8);
  EXPECT_EQ(slots_of_size(60, kMiB, 30), 30);
  EXPECT_EQ(slots_of_size(80, kMiB, 40), 32);
  EXPECT_EQ(slots_of_size(80, 64 * kMiB, 40), 4);
}

}  // namespace
}  // namespace headrace::policy
