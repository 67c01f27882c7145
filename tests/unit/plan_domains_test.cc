#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <vector>

#include "plan/domains.h"

namespace headrace::plan {
namespace {

constexpr FileOffset kPage = 4096;

void expect_range(FileRange range, FileOffset begin, FileOffset end) {
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, end);
}

TEST(DomainMap, GivesStripesToAggregatorsInTurn) {
  const DomainMap map({Alignment::persistent, 100, 4, 100, 4}, {250, 900});
  EXPECT_EQ(map.owner(250), 2);
  EXPECT_EQ(map.place(620).aggregator, 2);
  EXPECT_EQ(map.place(620).round, 1);
  expect_range(map.window(1, 2), 600, 700);
  expect_range(map.touched(0, 2), 250, 300);
  expect_range(map.window(0, 0), 400, 500);
  EXPECT_EQ(map.rounds(1), 1);
  EXPECT_EQ(map.rounds(), 2);
}

TEST(DomainMap, CutsStripesThatAreLargerThanAWindow) {
  const DomainMap map({Alignment::persistent, 100, 4, 50, 4}, {250, 900});
  expect_range(map.window(0, 2), 250, 300);
  expect_range(map.window(1, 2), 600, 650);
  EXPECT_EQ(map.rounds(2), 3);
}

TEST(DomainMap, LeavesAnObjectToOneAggregatorWhereTheirCountIsNoDivisor) {
  const DomainMap map({Alignment::persistent, 100, 4, 100, 3}, {0, 1600});
  for (FileOffset stripe = 0; stripe < 16; ++stripe) {
    EXPECT_EQ(map.owner(100 * stripe), stripe % 4 % 3);
  }
  EXPECT_EQ(map.rounds(0), 8);
  EXPECT_EQ(map.rounds(1), 4);
}

TEST(DomainMap, SharesACallsStripesEvenly) {
  const DomainMap map({Alignment::stripes, 100, 4, 200, 3}, {250, 900});
  expect_range(map.window(0, 0), 200, 400);
  expect_range(map.window(1, 0), 400, 500);
  expect_range(map.window(0, 1), 500, 700);
  expect_range(map.touched(0, 2), 700, 900);
  EXPECT_EQ(map.rounds(1), 1);
}

TEST(DomainMap, SharesACallsPagesEvenly) {
  const DomainMap map({Alignment::even, 1 << 20, 4, 1 << 20, 2}, {5000, 30000});
  expect_range(map.window(0, 0), 4096, 20480);
  expect_range(map.window(0, 1), 20480, 32768);
}

TEST(DomainMap, HasNoRoundsWithoutBytes) {
  for (const Alignment alignment : {Alignment::even, Alignment::stripes, Alignment::persistent}) {
    const DomainMap map({alignment, 100, 4, 100, 4}, {700, 700});
    EXPECT_EQ(map.rounds(), 0);
    EXPECT_EQ(map.rounds(3), 0);
    EXPECT_EQ(map.meeting(1, {0, 1000}).last, 0);
  }
}

TEST(DomainMap, ReachesTheLargestOffset) {
  constexpr FileOffset kLast = std::numeric_limits<FileOffset>::max();
  for (const Alignment alignment : {Alignment::even, Alignment::stripes, Alignment::persistent}) {
    const DomainMap map({alignment, 1 << 20, 7, 1 << 20, 5}, {kLast - (10 << 20), kLast});
    const DomainMap::Place place = map.place(kLast - 1);
    EXPECT_EQ(map.window(place.round, place.aggregator).end, kLast);
    EXPECT_EQ(map.touched(place.round, place.aggregator).end, kLast);
  }
}

/// Every window of every aggregator, by what window() and rounds() say.
std::map<FileOffset, DomainMap::Place> all_windows(const DomainMap& map) {
  std::map<FileOffset, DomainMap::Place> windows;
  for (int aggregator = 0; aggregator < map.aggregators(); ++aggregator) {
    FileOffset last_end = 0;
    for (std::int64_t round = 0; round < map.rounds(aggregator); ++round) {
      EXPECT_LE(last_end, map.window(round, aggregator).begin);
      last_end = map.window(round, aggregator).end;
      windows[map.touched(round, aggregator).begin] = {aggregator, round};
    }
  }
  return windows;
}

class RandomMaps : public testing::TestWithParam<Alignment> {
 protected:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  DomainRule rule() {
    const ByteCount stripe = number(0, 3) == 0 ? 0 : number(1, 60);
    const ByteCount window = stripe > 0 && number(0, 1) ? stripe * number(1, 4) : number(1, 90);
    const ByteCount scale = GetParam() == Alignment::even ? kPage / 8 : 1;
    return {GetParam(), stripe * scale, number(0, 9), window * scale,
            static_cast<int>(number(1, 12))};
  }

  FileRange hull() {
    const ByteCount scale = GetParam() == Alignment::even ? kPage / 8 : 1;
    const FileOffset begin = number(0, 800) * scale + number(0, scale - 1);
    return {begin, begin + number(1, number(0, 1) ? 30 : 900) * scale};
  }

  std::mt19937_64 random_{11};
};

TEST_P(RandomMaps, WindowsTileTheHull) {
  for (int turn = 0; turn < 400; ++turn) {
    const DomainRule wanted = rule();
    const DomainMap map(wanted, hull());
    const auto windows = all_windows(map);
    FileOffset reached = map.hull().begin;
    std::int64_t most = 0;
    for (const auto& [begin, at] : windows) {
      const FileRange touched = map.touched(at.round, at.aggregator);
      ASSERT_EQ(touched.begin, reached) << "turn " << turn;
      ASSERT_LT(touched.begin, touched.end);
      ASSERT_LE(touched.end - map.window(at.round, at.aggregator).begin, wanted.window_size);
      for (const FileOffset offset : {touched.begin, touched.end - 1}) {
        ASSERT_EQ(map.owner(offset), at.aggregator);
        ASSERT_EQ(map.place(offset).aggregator, at.aggregator);
        ASSERT_EQ(map.place(offset).round, at.round);
      }
      reached = touched.end;
      most = std::max(most, map.rounds(at.aggregator));
    }
    ASSERT_EQ(reached, map.hull().end);
    ASSERT_EQ(map.rounds(), most) << "turn " << turn;
  }
}

TEST_P(RandomMaps, MeetingFindsTheWindowsOfARange) {
  for (int turn = 0; turn < 200; ++turn) {
    const DomainMap map(rule(), hull());
    const FileRange range = hull();
    for (int aggregator = 0; aggregator < map.aggregators(); ++aggregator) {
      const Rounds found = map.meeting(aggregator, range);
      for (std::int64_t round = 0; round < map.rounds(aggregator); ++round) {
        const FileRange touched = map.touched(round, aggregator);
        const bool meets = touched.begin < range.end && touched.end > range.begin;
        ASSERT_EQ(meets, found.first <= round && round < found.last)
            << "turn " << turn << ", aggregator " << aggregator << ", round " << round;
      }
      ASSERT_LE(found.last, map.rounds(aggregator));
    }
  }
}

TEST_P(RandomMaps, KeepTheirPromiseAboutStripes) {
  for (int turn = 0; turn < 200; ++turn) {
    DomainRule wanted = rule();
    if (wanted.stripe_size == 0) continue;
    const FileRange here = hull();
    const DomainMap map(wanted, here);
    const DomainMap other(wanted, {here.begin + 1, here.end + 500});
    for (FileOffset offset = here.begin + 1; offset < here.end; ++offset) {
      const bool in_one_stripe = offset % wanted.stripe_size != 0;
      if (GetParam() != Alignment::even && in_one_stripe) {
        ASSERT_EQ(map.owner(offset), map.owner(offset - 1));
      }
      if (GetParam() == Alignment::persistent) {
        ASSERT_EQ(map.owner(offset), other.owner(offset));
      }
      if (GetParam() == Alignment::even) offset += kPage / 8 - 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alignments, RandomMaps,
                         testing::Values(Alignment::even, Alignment::stripes,
                                         Alignment::persistent),
                         [](const auto& test) {
                           return std::string(test.param == Alignment::even      ? "Even"
                                              : test.param == Alignment::stripes ? "Stripes"
                                                                                 : "Persistent");
                         });

TEST(DomainWindow, IsWholeStripesOfOneOwner) {
  constexpr ByteCount kMiB = 1 << 20;
  const auto window = [](ByteCount wanted, ByteCount stripe, std::int64_t count, int aggregators) {
    return domain_window(wanted, 16 * kMiB, {Alignment::persistent, stripe, count, 0, aggregators});
  };
  EXPECT_EQ(window(kMiB / 4, kMiB, 16, 16), kMiB);
  EXPECT_EQ(window(16 * kMiB, kMiB, 16, 4), 4 * kMiB);
  EXPECT_EQ(window(3 * kMiB, kMiB, 16, 4), 2 * kMiB);
  EXPECT_EQ(window(16 * kMiB, kMiB, 16, 16), kMiB);
  EXPECT_EQ(window(16 * kMiB, kMiB, 16, 5), kMiB);
  EXPECT_EQ(window(kMiB, 64 * kMiB, 4, 4), 16 * kMiB);
  EXPECT_EQ(window(100'000, 0, 0, 4), 25 * kPage);
  EXPECT_EQ(window(3 * kMiB + 1, kMiB, 0, 4), 3 * kMiB);
  // 4,099 pages, a prime number: no even part is near.
  EXPECT_EQ(window(kMiB, 4099 * kPage, 4, 4), 16 * kMiB);
}

}  // namespace
}  // namespace headrace::plan
