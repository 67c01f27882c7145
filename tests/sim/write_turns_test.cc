#include <gtest/gtest.h>

#include <cstdint>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"
#include "storage/kinds.h"

// Who takes turns at writing; how turns go is storage_write_turn_test's affair.
// HEADRACE_WRITE_TURNS is read once in a process: CMakeLists.txt runs these tests with each of its
// values.

namespace headrace::sim {
namespace {

constexpr std::uint64_t kExt4 = 0xef53;
constexpr std::uint64_t kTmpfs = 0x01021994;
constexpr std::uint64_t kLustre = 0x0bd00bd0;
constexpr std::uint64_t kUnknown = 1;

/// How many ranks take turns where each writes a block that gains by it, and finds it in the file.
int takers(const Job& job, std::uint64_t magic) {
  constexpr ByteCount kBlock = 2 * storage::WriteTurn::kLeastBytes;
  Disk disk(0);
  disk.pretend({.kind = storage::find_kind(magic, "")});
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file =
        file::File::open(team, files, "file", {.read = true, .write = true, .create = true}, {});
    ASSERT_TRUE(file);
    Bytes data(kBlock, static_cast<std::uint8_t>(rank + 1));
    const auto move_block = [&](Direction direction) {
      return file.value()
          ->transfer({direction, false, rank * kBlock, data.data(), kBlock, view::make_basic(1)})
          .bytes;
    };
    for (int i = 0; i < 20; ++i) EXPECT_EQ(move_block(Direction::write), kBlock);
    data.assign(data.size(), 0);
    EXPECT_EQ(move_block(Direction::read), kBlock);
    EXPECT_EQ(data, Bytes(kBlock, static_cast<std::uint8_t>(rank + 1)));
    EXPECT_FALSE(file.value()->close());
  });
  return disk.turn_takers();
}

TEST(WriteTurns, AreForRanksOfANodeThatHaveACoreEach) {
  const Watchdog watchdog("WriteTurns.AreForRanksOfANodeThatHaveACoreEach", kCaseLimit);
  const UseSetting setting = settings().write_turns;
  const auto expected = [setting](int automatic, int always) {
    return setting == UseSetting::automatic ? automatic
           : setting == UseSetting::always  ? always
                                            : 0;
  };
  const int cores = topo::node_cores();
  const int two = cores < 2 ? 0 : 2;
  EXPECT_EQ(takers({1, 2}, kExt4), expected(two, 2));
  EXPECT_EQ(takers({1, 2}, kTmpfs), expected(two, 2));
  EXPECT_EQ(takers({2, 2}, kExt4), expected(2 * two, 4));
  EXPECT_EQ(takers({1, 2}, kLustre), expected(0, 2));
  EXPECT_EQ(takers({1, 2}, kUnknown), expected(0, 2));
  EXPECT_EQ(takers({1, cores + 1}, kExt4), expected(0, cores + 1)) << "more ranks than cores";
  EXPECT_EQ(takers({3, 1}, kExt4), 0) << "each rank alone on its node";
}

}  // namespace
}  // namespace headrace::sim
