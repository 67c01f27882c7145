#include <gtest/gtest.h>

#include <chrono>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"

// More nodes than a node has collective buffers (with HEADRACE_BUFFER_COUNT=2, see CMakeLists.txt).

namespace headrace::sim {
namespace {

/// All nodes have pieces in all windows, and each owns four or five of them. A node whose buffers
/// wait for the file must not keep the others from filling and writing theirs.
TEST(NodesThatAreMany, WriteAtTheSameTime) {
  const Job job{16, 2, 15};
  constexpr int kAtOnce = 10;
  const Watchdog watchdog("NodesThatAreMany.WriteAtTheSameTime", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks());
  Meter meter(office, job.ranks());
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    // A leader writes, too, where its node's other rank sleeps; nobody sends and receives
    // meanwhile.
    const auto longest = [&](int of) {
      const bool leads = of % job.ranks_per_node == 0;
      return leads ? std::chrono::milliseconds(200) : std::chrono::milliseconds(20'000);
    };
    if (rank == 0) disk.hold_writes(kAtOnce, longest);
    Bytes data = job.data(rank);
    const Counted written = meter.count(
        rank, [&] { EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data)); });
    if (rank == 0 && !settings().verify) {
      const plan::Traffic traffic = job.plan(Direction::write).traffic();
      EXPECT_EQ(written.messages,
                plan::meeting_messages(job.nodes) + traffic.messages + traffic.pairs);
    }
    Bytes back(data.size());
    EXPECT_EQ(move(*file, Direction::read, back).bytes, std::ssize(data));
    EXPECT_EQ(back, data);
    EXPECT_FALSE(file->close());
  });
  EXPECT_GE(disk.most_writes(), kAtOnce);
}

}  // namespace
}  // namespace headrace::sim
