#include <alloca.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "record/call_path.h"
#include "unit/path_recorder.h"

namespace headrace::record {
namespace {

TEST(CallPaths, AreTheSameForTheSameCallers) {
  Recorder recorder;
  for (int i = 0; i < 1000; ++i) {
    first(recorder);
    second(recorder);
  }
  EXPECT_EQ(recorder.ids.size(), 3U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 3U);
  EXPECT_EQ(recorder.paths.counts().hits, 2997U);
}

[[gnu::noipa]] PathEnd& one_site(Recorder& recorder) {
  PathEnd& end = mpi_call(recorder);
  keep(&end);
  return end;
}

TEST(CallPaths, KeepTheirRows) {
  Recorder recorder({.depth = 1});
  int row = 0;
  for (int i = 0; i < 3; ++i) {
    PathEnd& end = one_site(recorder);
    EXPECT_EQ(end.rows, i == 0 ? nullptr : &row);
    end.rows = &row;
  }
}

TEST(CallPaths, AreOneWhateverAnArrayMeasures) {
  Recorder recorder;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t size = 16; size < 4000; size += 40) with_alloca(recorder, size);
  }
  EXPECT_EQ(recorder.ids.size(), 1U);
  EXPECT_LE(recorder.paths.counts().unwinds, 250U);
}

TEST(CallPaths, AreUnwoundWhereAnArrayIsNeverTheSame) {
  Recorder recorder;
  for (std::size_t size = 16; size < 160000; size += 16) with_alloca(recorder, size);
  EXPECT_EQ(recorder.ids.size(), 1U);
  EXPECT_EQ(recorder.paths.counts().folded, 0U);
}

template <int kAlignment>
[[gnu::noipa]] void aligned(Recorder& recorder, int deeper) {
  alignas(kAlignment) volatile std::array<double, 16> memory{};
  keep(&memory);
  if (deeper > 0) {
    aligned<kAlignment == 64 ? 128 : 64>(recorder, deeper - 1);
  } else {
    with_alloca(recorder, 48);
  }
  keep(&memory);
}

[[gnu::noipa]] void shifted(Recorder& recorder, std::size_t size, int deeper) {
  auto* memory = static_cast<volatile char*>(alloca(size));
  memory[0] = 1;
  keep(memory);
  aligned<64>(recorder, deeper);
  keep(memory);
}

TEST(CallPaths, AreOneWhateverTheStacksAlignmentIs) {
  Recorder recorder;
  for (int round = 0; round < 20; ++round) {
    for (int deeper = 0; deeper < 4; ++deeper) {
      for (std::size_t size = 16; size < 300; size += 16) shifted(recorder, size, deeper);
    }
  }
  EXPECT_EQ(recorder.ids.size(), 4U);
}

[[gnu::noipa]] int recursive(Recorder& recorder, int deeper) {
  if (deeper == 0) {
    mpi_call(recorder);
  } else if (deeper % 3 == 0) {
    recursive(recorder, deeper - 1);
    asm volatile("");
  } else {
    recursive(recorder, deeper - 1);
    asm volatile("nop");
  }
  return deeper + 1;
}

TEST(CallPaths, OfRecursionEndAtTheirDepth) {
  Recorder recorder({.depth = 5});
  for (int round = 0; round < 50; ++round) {
    for (int deeper = 0; deeper < 40; ++deeper) recursive(recorder, deeper);
  }
  EXPECT_EQ(recorder.ids.size(), 5U) << "four with the test's own frame, and one without";
}

TEST(CallPaths, OfOneSiteAreToldApart) {
  Recorder recorder({.depth = 7});
  std::array<PathId, 64> ids{};
  for (unsigned way = 0; way < 64; ++way) {
    branch(recorder, way, 6);
    ids[way] = recorder.last;
  }
  EXPECT_EQ(recorder.ids.size(), 64U);
  for (unsigned i = 0; i < 20000; ++i) {
    const unsigned way = i * 2654435761U >> 26;
    branch(recorder, way, 6);
    ASSERT_EQ(recorder.last, ids[way]);
  }
  EXPECT_EQ(recorder.ids.size(), 64U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 64U);
}

TEST(CallPaths, AreCheckedNowAndThen) {
  Recorder recorder({.check_each = 10});
  for (int i = 0; i < 1000; ++i) {
    branch(recorder, static_cast<unsigned>(i) % 8, 3);
    with_alloca(recorder, static_cast<std::size_t>(i) % 7 * 16 + 16);
  }
  EXPECT_GT(recorder.paths.counts().checks, 150U);
  EXPECT_EQ(recorder.paths.counts().wrong, 0U);
}

/// Frames of random sizes, so that old return addresses lie between the new ones.
struct RandomFrames {
  Recorder recorder{{.check_each = 1}};
  unsigned state = 1;

  unsigned draw(unsigned count) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % count;
  }
};

[[gnu::noipa]] void random_frames(RandomFrames& random, int deeper);

[[gnu::noipa]] void random_array(RandomFrames& random, int deeper) {
  // Not written to: what was there stays.
  const volatile void* const memory = alloca(16 + random.draw(24) * 16);
  keep(memory);
  random_frames(random, deeper - 1);
  keep(memory);
}

[[gnu::noipa]] void random_frames(RandomFrames& random, int deeper) {
  if (deeper == 0) {
    mpi_call(random.recorder);
  } else if (random.draw(3) == 0) {
    random_array(random, deeper);
  } else if (random.draw(2) == 0) {
    random_frames(random, deeper - 1);
    asm volatile("nop");
  } else {
    mpi_call(random.recorder);
    random_frames(random, deeper - 1);
  }
  keep(&random);
}

TEST(CallPaths, AreHardlyEverTakenForOldOnes) {
  RandomFrames random;
  random.recorder.is_compared = false;
  for (int i = 0; i < 100000; ++i) random_frames(random, static_cast<int>(random.draw(5)) + 1);
  const CallPaths::Counts counts = random.recorder.paths.counts();
  EXPECT_GT(counts.checks, 50000U);
  EXPECT_LE(counts.wrong, counts.checks / 1000);
}

TEST(CallPaths, BeyondTheBoundCountForTheirSite) {
  Recorder recorder({.depth = 20, .most_nodes = 512});
  recorder.is_compared = false;
  for (int round = 0; round < 3; ++round) {
    for (unsigned way = 0; way < 10000; ++way) branch(recorder, way, 14);
  }
  const CallPaths::Counts counts = recorder.paths.counts();
  EXPECT_LE(recorder.store.size(), 512U);
  EXPECT_LT(recorder.ids.size(), 512U);
  EXPECT_EQ(counts.folded + counts.hits + counts.unwinds, 30001U) << "the first one did both";
  EXPECT_EQ(recorder.store.chain(recorder.last).size(), 1U);
  first(recorder);
  EXPECT_EQ(recorder.store.chain(recorder.last).size(), 1U) << "a site of its own";
  EXPECT_EQ(recorder.paths.counts().lost, 0U);
}

TEST(CallPaths, WithoutRoomInTheStoreAreNone) {
  Recorder recorder({}, nullptr, 3);
  recorder.is_compared = false;
  first(recorder);
  EXPECT_EQ(recorder.last, kNoPath);
  EXPECT_EQ(recorder.paths.counts().lost, 1U);
}

int asked = 0;
TEST(CallPaths, OfTheLibraryAreNotUnwound) {
  asked = 0;
  Recorder recorder(
      {}, [](std::uintptr_t, int) { return ++asked != 0 ? Caller::other : Caller::program; });
  recorder.is_compared = false;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(mpi_call(recorder).is_foreign);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(recorder.store.size(), 0U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 0U);
}

[[gnu::noipa]] PathEnd& wrapper(Recorder& recorder) {
  PathEnd& end = mpi_call(recorder);
  keep(&end);
  return end;
}

/// Tells wrapper's call from those of whoever calls wrapper.
Caller of_tool(std::uintptr_t address, int) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&wrapper);
  const bool is_wrapper = address > begin && address < begin + 64;
  if (is_wrapper) return Caller::wrapper;
  return asked++ == 0 ? Caller::other : Caller::program;
}

TEST(CallPaths, OfAToolAreForeignWhereItCallsItsOwnWrapper) {
  asked = 0;
  Recorder recorder({}, &of_tool);
  recorder.is_compared = false;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wrapper(recorder).is_foreign, true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wrapper(recorder).is_foreign, false) << "the program's";
  EXPECT_EQ(asked, 2) << "once for each path";
}

}  // namespace
}  // namespace headrace::record
