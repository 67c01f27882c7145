#include <gtest/gtest.h>

#include <random>
#include <set>

#include "plan/windows.h"

namespace headrace::plan {
namespace {

TEST(Windows, LeavesOutWhatNobodyTouches) {
  const RankRange ranges[] = {{50, 120, 70}, {950, 960, 10}};
  const Windows windows(ranges, 100);
  ASSERT_EQ(windows.count(), 3);
  EXPECT_EQ(windows.span(), 80);
  EXPECT_EQ(windows.range(1).begin, 100);
  EXPECT_EQ(windows.range(2).begin, 900);
  EXPECT_EQ(windows.range(2).end, 1000);
  EXPECT_EQ(windows.touched(0).begin, 50);
  EXPECT_EQ(windows.touched(0).end, 100);
  EXPECT_EQ(windows.touched(2).begin, 950);
  EXPECT_EQ(windows.touched(2).end, 960);
}

TEST(Windows, HasNoneWithoutData) {
  const RankRange ranges[] = {{0, 0, 0}, {70, 90, 0}};
  const Windows windows(ranges, 64);
  EXPECT_EQ(windows.count(), 0);
  EXPECT_EQ(windows.span(), 0);
}

TEST(Windows, AgreesWithAByteByByteCount) {
  std::mt19937_64 random(7);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int turn = 0; turn < 500; ++turn) {
    const ByteCount size = number(1, 40);
    std::vector<RankRange> ranges;
    for (std::int64_t i = number(0, 7); i > 0; --i) {
      const FileOffset begin = number(0, 600);
      const FileOffset end = begin + number(1, number(0, 1) ? 10 : 300);
      ranges.push_back({begin, end, number(0, 4) == 0 ? 0 : number(1, end - begin)});
    }
    std::set<FileOffset> touched;
    for (const RankRange& range : ranges) {
      for (FileOffset i = range.begin; range.bytes > 0 && i < range.end; ++i) touched.insert(i);
    }
    std::set<FileOffset> begins;
    for (const FileOffset offset : touched) begins.insert(offset / size * size);

    Windows windows(ranges, turn % 2 == 0 ? size : number(1, 40));
    windows.resize(size);
    ASSERT_EQ(windows.count(), std::ssize(begins));
    ASSERT_EQ(windows.span(), std::ssize(touched));
    std::int64_t window = 0;
    for (const FileOffset begin : begins) {
      ASSERT_EQ(windows.range(window).begin, begin);
      ASSERT_EQ(windows.range(window).end, begin + size);
      int participants = 0;
      bool ends = false;
      for (const RankRange& range : ranges) {
        if (range.bytes == 0) continue;
        participants += range.begin < begin + size && range.end > begin;
        ends = ends || (range.end - 1) / size * size == begin;
      }
      ASSERT_EQ(windows.ends_a_range(window), ends);
      ASSERT_EQ(windows.participants(window), participants);
      ASSERT_EQ(windows.touched(window).begin, *touched.lower_bound(begin));
      ASSERT_EQ(windows.touched(window).end, *std::prev(touched.lower_bound(begin + size)) + 1);
      ++window;
    }
    for (const FileOffset offset : touched) {
      ASSERT_EQ(windows.window_of(offset),
                std::distance(begins.begin(), begins.find(offset / size * size)));
    }
  }
}

TEST(FittingWindow, IsSmallerWhereACallIsSmall) {
  constexpr ByteCount kKiB = 1024;
  EXPECT_EQ(fitting_window(40'000, 3, 16 * kKiB, 256 * kKiB), 16 * kKiB);
  EXPECT_EQ(fitting_window(0, 4, 16 * kKiB, 256 * kKiB), 16 * kKiB);
  EXPECT_EQ(fitting_window(512 * kKiB, 4, 16 * kKiB, 256 * kKiB), 128 * kKiB);
  EXPECT_EQ(fitting_window(1024 * kKiB, 4, 16 * kKiB, 256 * kKiB), 256 * kKiB);
  EXPECT_EQ(fitting_window(1, 4, 256 * kKiB, 256 * kKiB), 256 * kKiB);
  EXPECT_EQ(fitting_window(1, 4, 64 * kKiB, 96 * kKiB), 96 * kKiB);
}

}  // namespace
}  // namespace headrace::plan
