#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "plan/tiling.h"

namespace headrace::plan {
namespace {

class Random {
 public:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }

 private:
  std::mt19937_64 engine_{11};
};

struct Strided {
  ByteCount begin;
  ByteCount len;
  std::int64_t stride;
  std::int64_t count;
};

/// How many of the runs' pieces cover each granule.
std::vector<int> counted(const std::vector<Strided>& runs, int shift, ByteCount granules) {
  std::vector<int> covers(static_cast<std::size_t>(granules));
  for (const Strided& run : runs) {
    for (std::int64_t piece = 0; piece < run.count; ++piece) {
      const ByteCount begin = run.begin + piece * run.stride;
      for (ByteCount x = begin >> shift; x < (begin + run.len) >> shift; ++x) {
        covers[static_cast<std::size_t>(x)] += 1;
      }
    }
  }
  return covers;
}

TilingSum::Value sum_of(const std::vector<Strided>& runs, int shift) {
  TilingSum sum(shift);
  for (const Strided& run : runs) sum.add(run.begin, run.len, run.stride, run.count);
  return sum.value();
}

/// Runs that may tile [0, granules << shift): `ranks` in turn, or random ones, or a cut of it at
/// random.
std::vector<Strided> random_runs(Random& random, int shift, ByteCount granules) {
  std::vector<Strided> runs;
  if (random.number(0, 2) == 0) {
    const std::int64_t ranks = random.number(1, std::min<ByteCount>(5, granules));
    const ByteCount len = random.number(1, granules / ranks) << shift;
    const std::int64_t rows = (granules << shift) / (ranks * len);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      runs.push_back({rank * len, len, ranks * len, rows});
    }
    const ByteCount done = rows * ranks * len;
    if (done < granules << shift) runs.push_back({done, (granules << shift) - done, 0, 1});
    return runs;
  }
  for (ByteCount at = 0; at < granules;) {
    const ByteCount len = random.number(1, std::min<ByteCount>(granules - at, 9));
    runs.push_back({at << shift, len << shift, 0, 1});
    at += len;
  }
  return runs;
}

TEST(TilingSum, TellsWhetherEachByteIsCoveredOnce) {
  Random random;
  int tiled = 0;
  int others = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    const int shift = static_cast<int>(random.number(0, 6));
    const ByteCount granules = random.number(4, 120);
    std::vector<Strided> runs = random_runs(random, shift, granules);
    // Often one piece more, one less, or one moved: as many bytes, one hole and one overlap.
    const auto any =
        static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(runs.size()) - 1));
    switch (random.number(0, 3)) {
      case 0: runs.push_back(runs[any]); break;
      case 1: runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(any)); break;
      case 2: {
        Strided& moved = runs[any];
        const ByteCount room = (granules << shift) - ((moved.count - 1) * moved.stride + moved.len);
        moved.begin = random.number(0, room >> shift) << shift;
        break;
      }
      default: break;
    }
    const std::vector<int> covers = counted(runs, shift, granules);
    const bool is_tiled = std::ranges::all_of(covers, [](int times) { return times == 1; });
    EXPECT_EQ(sum_of(runs, shift) == TilingSum::of_stretch(0, granules << shift, shift), is_tiled);
    (is_tiled ? tiled : others) += 1;
  }
  EXPECT_GT(tiled, 2'000);
  EXPECT_GT(others, 2'000);
}

TEST(TilingSum, IsTheSameHoweverTheStretchIsCut) {
  constexpr ByteCount kWindow = ByteCount{1} << 32;  // more than any hint asks for
  TilingSum evens(0);
  TilingSum odds(0);
  evens.add(0, 8, 16, kWindow / 16);
  odds.add(8, 8, 16, kWindow / 16);
  EXPECT_EQ(TilingSum::together(evens.value(), odds.value()), TilingSum::of_stretch(0, kWindow, 0));
  EXPECT_NE(evens.value(), odds.value());
  odds.clear();
  odds.add(8, 8, 16, kWindow / 16 - 1);
  EXPECT_NE(TilingSum::together(evens.value(), odds.value()), TilingSum::of_stretch(0, kWindow, 0));
}

}  // namespace
}  // namespace headrace::plan
