#include <gtest/gtest.h>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"
#include "storage/kinds.h"

// A lock for as long as a file is open, where a node's client would write over its neighbours'
// bytes without one.

namespace headrace::sim {
namespace {

constexpr std::uint64_t kNfs = 0x6969;
constexpr std::uint64_t kGpfs = 0x47504653;

/// How many writes came from a rank that had no lock on the file.
int unlocked_writes(const Job& job, std::uint64_t magic, bool can_read, bool is_atomic = false) {
  Disk disk(0);
  disk.pretend({.kind = storage::find_kind(magic, "")});
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job), can_read);
    Bytes data = job.data(rank);
    for (const bool atomic : {is_atomic, false}) {
      EXPECT_FALSE(file->set_atomicity(atomic));
      EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    }
    EXPECT_FALSE(file->close());
  });
  return disk.unlocked_writes();
}

TEST(ClientLock, IsHeldByEachRankThatWrites) {
  const Watchdog watchdog("ClientLock.IsHeldByEachRankThatWrites", kCaseLimit);
  for (const bool can_read : {true, false}) {
    EXPECT_EQ(unlocked_writes({2, 2, 10}, kNfs, can_read), 0) << can_read;
    EXPECT_GT(unlocked_writes({2, 2, 10}, kGpfs, can_read), 0) << can_read;
  }
  EXPECT_EQ(unlocked_writes({1, 2, 10}, kNfs, true), 0) << "other nodes may have it open, too";
}

TEST(ClientLock, IsThereBesideThoseOfAtomicMode) {
  const Watchdog watchdog("ClientLock.IsThereBesideThoseOfAtomicMode", kCaseLimit);
  EXPECT_EQ(unlocked_writes({2, 2, 10}, kNfs, true, true), 0);
}

}  // namespace
}  // namespace headrace::sim
