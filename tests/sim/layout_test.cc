#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "sim/nodes_job.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

// What the first rank finds about the file's layout reaches all ranks.

namespace headrace::sim {
namespace {

constexpr file::AccessMode kCreate{.read = true, .write = true, .create = true};

file::Hints hints_on_rank(const storage::Layout& layout, const file::Hints& given, int which) {
  const Watchdog watchdog("layouts", kCaseLimit);
  Disk disk(0);
  disk.pretend(layout);
  file::Hints found;
  run_ranks({"a", "a", "b"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    auto file = file::File::open(team, files, "file", kCreate, given);
    ASSERT_TRUE(file) << file.error().message;
    if (rank == which) found = file.value()->hints();
    EXPECT_FALSE(file.value()->close());
  });
  return found;
}

TEST(Layouts, AreToldToAllRanks) {
  const storage::Layout layout{.kind = 1,
                               .is_coherent = true,
                               .stripes = {1 << 20, 4},
                               .outcome = storage::StripingOutcome::refused,
                               .system_error = EINVAL};
  for (int rank = 0; rank < 3; ++rank) {
    const file::Hints hints = hints_on_rank(layout, {}, rank);
    EXPECT_EQ(hints.at("striping_unit"), "1048576");
    EXPECT_EQ(hints.at("striping_factor"), "4");
    EXPECT_EQ(hints.at("headrace_file_system"), "lustre");
    EXPECT_EQ(hints.at("headrace_striping"), "not applied (lustre refused it: Invalid argument)");
    EXPECT_EQ(hints.at("cb_buffer_size"), "1048576");
  }
}

TEST(Layouts, OfTheFileSystemCountMoreThanHints) {
  const file::Hints given{{"striping_unit", "131072"}, {"cb_buffer_size", "65536"}};
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 19, 4}}, given, 2).at("cb_buffer_size"), "524288");
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 19, 4}}, given, 2).at("striping_unit"), "524288");
  EXPECT_EQ(hints_on_rank({}, given, 2).at("cb_buffer_size"), "131072");
  EXPECT_EQ(hints_on_rank({.stripes = {1000, 4}}, given, 2).at("cb_buffer_size"), "131072")
      << "stripes that are no whole pages are not followed";
}

TEST(Layouts, WithoutStripesHaveLargerBuffersWhereNodesExchange) {
  EXPECT_EQ(hints_on_rank({.is_coherent = true}, {}, 2).at("cb_buffer_size"), "1048576");
  EXPECT_EQ(hints_on_rank({}, {}, 2).at("cb_buffer_size"), "262144");
  const file::Hints given{{"cb_buffer_size", "131072"}};
  EXPECT_EQ(hints_on_rank({.is_coherent = true}, given, 2).at("cb_buffer_size"), "131072");
}

TEST(Layouts, WithLargeStripesLeaveMemoryForAnotherFile) {
  // A file's buffers take at most half of HEADRACE_NODE_MEMORY.
  EXPECT_EQ(hints_on_rank({.stripes = {1 << 26, 4}}, {}, 1).at("cb_buffer_size"), "4194304");
}

/// What became of small pieces that 3 nodes of 2 ranks write by turns: the ranks that wrote, and
/// the way and the reason as the last rank tells them.
struct Written {
  std::set<int> ranks;
  std::string way;
  std::string reason;
};

Written write_in_turns(Disk& disk, const file::Hints& hints) {
  const Watchdog watchdog("writing in turns", kCaseLimit);
  const Job job{.nodes = 3, .ranks_per_node = 2, .pieces = 100};
  Written written;
  disk.watch();
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints);
    Bytes data = job.data(rank);
    EXPECT_FALSE(move(*file, Direction::write, data).error);
    if (rank == 5) {
      written.way = file->hints().at("headrace_write_taken");
      written.reason = file->hints().at("headrace_write_reason");
    }
    EXPECT_FALSE(file->close());
  });
  for (const Disk::Event& event : disk.events()) written.ranks.insert(event.rank);
  EXPECT_EQ(std::ssize(*disk.content("file")), job.bytes());
  return written;
}

TEST(Layouts, OfFilesThatAreLockedWholeLetOneNodeWrite) {
  const storage::Layout layout{.is_coherent = true, .locks_whole_files = true};
  Disk disk(0);
  disk.pretend(layout);
  const Written written = write_in_turns(disk, {});
  EXPECT_EQ(written.way, "exchanged");
  EXPECT_LT(*written.ranks.rbegin(), 2) << "the first node's ranks only";
  EXPECT_NE(written.reason.find("one node writes and reads for all"), std::string::npos)
      << written.reason;

  Disk asked(0);
  asked.pretend(layout);
  const Written by_three = write_in_turns(asked, {{"cb_nodes", "3"}});
  EXPECT_GE(*by_three.ranks.rbegin(), 2) << "a hint counts more; a node has two ranks";
  EXPECT_EQ(by_three.reason.find("one node"), std::string::npos) << by_three.reason;
}

TEST(Layouts, LetNodesExchangeWhereNoNodeKeepsData) {
  Disk coherent(0);
  EXPECT_EQ(write_in_turns(coherent, {}).way, "exchanged");
  for (const int rank : {0, 4}) {
    Disk disk(0);
    disk.keep_data_on(rank);
    EXPECT_NE(write_in_turns(disk, {}).way, "exchanged") << rank;
  }
}

}  // namespace
}  // namespace headrace::sim
