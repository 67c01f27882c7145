#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "record/part_rounds.h"

namespace headrace::record {
namespace {

TEST(PartRounds, AreNoLargerThanTheBound) {
  const std::int64_t sizes[] = {0, 4, 0, 6, 0, 1, 9, 0};
  EXPECT_EQ(rounds_of(sizes, 10), (std::vector<PartRound>{{1, 4}, {5, 7}}));
  EXPECT_EQ(rounds_of(sizes, 20), (std::vector<PartRound>{{1, 7}}));
}

TEST(PartRounds, HaveALargePartAlone) {
  const std::int64_t sizes[] = {3, 50, 3, 3};
  EXPECT_EQ(rounds_of(sizes, 10), (std::vector<PartRound>{{0, 1}, {1, 2}, {2, 4}}));
}

TEST(PartRounds, AreNoneWithoutParts) {
  const std::int64_t sizes[] = {0, 0, -1};
  EXPECT_TRUE(rounds_of(sizes, 10).empty());
}

TEST(PartRounds, HaveEachRankOnce) {
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < 1000; ++rank) sizes.push_back(rank * 7 % 11);
  const std::vector<PartRound> rounds = rounds_of(sizes, 16);
  for (int rank = 0; rank < 1000; ++rank) {
    const auto own = std::ranges::count_if(rounds, [&](const auto& one) { return one.has(rank); });
    EXPECT_LE(own, 1) << rank;
    EXPECT_GE(own, sizes[static_cast<std::size_t>(rank)] > 0 ? 1 : 0) << rank;
  }
  for (const PartRound& one : rounds) {
    std::int64_t bytes = 0;
    for (int rank = one.begin; rank < one.end; ++rank) {
      bytes += sizes[static_cast<std::size_t>(rank)];
    }
    EXPECT_LE(bytes, 16);
  }
}

}  // namespace
}  // namespace headrace::record
