#include <gtest/gtest.h>

#include <string_view>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"
#include "storage/kinds.h"

// Who takes turns at writing; how turns go is storage_write_turn_test's affair.
// HEADRACE_WRITE_TURNS is read once in a process: CMakeLists.txt runs these tests with each of its
// values.

namespace headrace::sim {
namespace {

int kind_of(std::string_view name) {
  for (std::size_t i = 0; i < storage::kinds().size(); ++i) {
    if (storage::kinds()[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << name;
  return 0;
}

/// How many ranks take turns where each writes a block that gains by it, and finds it in the file.
int takers(const Job& job, std::string_view file_system) {
  constexpr ByteCount kBlock = 2 * storage::WriteTurn::kLeastBytes;
  Disk disk(0);
  disk.pretend({.kind = kind_of(file_system)});
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file =
        engine::File::open(team, files, "file", {.read = true, .write = true, .create = true}, {});
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
  const WriteTurnsSetting setting = settings().write_turns;
  const auto expected = [setting](int automatic, int always) {
    return setting == WriteTurnsSetting::automatic ? automatic
           : setting == WriteTurnsSetting::always  ? always
                                                   : 0;
  };
  const int cores = topo::node_cores();
  const int two = cores < 2 ? 0 : 2;
  EXPECT_EQ(takers({1, 2}, "ext4"), expected(two, 2));
  EXPECT_EQ(takers({1, 2}, "tmpfs"), expected(two, 2));
  EXPECT_EQ(takers({2, 2}, "ext4"), expected(2 * two, 4));
  EXPECT_EQ(takers({1, 2}, "lustre"), expected(0, 2));
  EXPECT_EQ(takers({1, 2}, "unknown"), expected(0, 2));
  EXPECT_EQ(takers({1, cores + 1}, "ext4"), expected(0, cores + 1)) << "more ranks than cores";
  EXPECT_EQ(takers({3, 1}, "ext4"), 0) << "each rank alone on its node";
}

}  // namespace
}  // namespace headrace::sim
