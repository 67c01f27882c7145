#include <gtest/gtest.h>

#include "sim/nodes_job.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

// Hints that a file tells of, as MPI_File_get_info asks.

namespace headrace::sim {
namespace {

std::unique_ptr<file::File> open(const std::shared_ptr<exchange::FileTeam>& team,
                                 storage::FileSystem& files, const file::Hints& hints) {
  auto file = file::File::open(team, files, "file", {.write = true, .create = true}, hints);
  EXPECT_TRUE(file);
  return std::move(file.value());
}

TEST(Hints, AreThoseGivenLast) {
  Disk disk(0);
  run_ranks({"a", "a"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, {{"cb_nodes", "1"}, {"striping_factor", "3"}});
    EXPECT_EQ(file->hints().at("cb_nodes"), "1");
    EXPECT_FALSE(file->set_hints({{"cb_nodes", "4"}}));  // more than there are ranks
    EXPECT_EQ(file->hints().at("cb_nodes"), "2");
    EXPECT_EQ(file->hints().at("striping_factor"), "3");
    // What cannot be used changes nothing.
    EXPECT_FALSE(file->set_hints({{"cb_nodes", "four"}}));
    EXPECT_EQ(file->hints().at("cb_nodes"), "2");
    const view::TypePtr byte = view::make_basic(1);
    EXPECT_FALSE(file->set_view(file::View{0, byte, byte}, {{"cb_nodes", "1"}}));
    EXPECT_EQ(file->hints().at("cb_nodes"), "1");
    EXPECT_FALSE(file->close());
  });
}

TEST(Hints, OfAViewThatIsRefusedDoNotCount) {
  Disk disk(0);
  run_ranks({"a", "a"}, disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, {{"cb_nodes", "2"}});
    const file::Hints before = file->hints();
    const view::TypePtr byte = view::make_basic(1);
    const FileOffset displacement = rank == 0 ? 0 : -1;
    EXPECT_TRUE(file->set_view(file::View{displacement, byte, byte},
                               {{"cb_nodes", "1"}, {"romio_lustre_co_ratio", "2"}}));
    EXPECT_EQ(file->hints(), before);
    EXPECT_FALSE(file->close());
  });
}

/// What all ranks are told of hints that `given(rank)` gives.
template <class Given>
std::string corrections(const storage::Layout& layout, Given given) {
  Disk disk(0);
  disk.pretend(layout);
  std::vector<std::string> told(4);
  run_ranks({"a", "a", "b", "b"}, disk,
            [&](int rank, const auto& team, storage::FileSystem& files) {
              const auto file = open(team, files, given(rank));
              const file::Hints hints = file->hints();
              const auto found = hints.find("headrace_corrections");
              if (found != hints.end()) told[static_cast<std::size_t>(rank)] = found->second;
              EXPECT_FALSE(file->set_hints({}));
              EXPECT_FALSE(file->close());
            });
  for (const std::string& line : told) EXPECT_EQ(line, told.front());
  return told.front();
}

TEST(Hints, ThatRanksDoNotShareAreThoseOfTheFirst) {
  const storage::Layout plain{.is_coherent = true};
  EXPECT_EQ(corrections(plain, [](int) { return file::Hints{{"cb_nodes", "2"}}; }), "");
  EXPECT_EQ(corrections(plain,
                        [](int rank) {
                          return file::Hints{{"cb_nodes", rank == 2 ? "3" : "2"},
                                             {"striping_unit", rank < 2 ? "65536" : "4096"}};
                        }),
            "striping_unit is not the same on all ranks (2 of 4 differ from the first), the first "
            "rank's counts for all; cb_nodes is not the same on all ranks (1 of 4 differ from the "
            "first), the first rank's counts for all");
}

TEST(Hints, ThatMakeNoSenseAreCorrectedByName) {
  const storage::Layout plain{.is_coherent = true};
  EXPECT_EQ(corrections(plain, [](int) { return file::Hints{{"cb_nodes", "1000"}}; }),
            "cb_nodes=1000 counts as 4 (there are no more ranks)");
  EXPECT_EQ(corrections(plain, [](int) { return file::Hints{{"striping_unit", "1000"}}; }),
            "striping_unit=1000 does not count for collective buffers (stripes are whole pages, at "
            "most 1 GiB)");
  EXPECT_EQ(corrections(plain, [](int) { return file::Hints{{"headrace_lock_ahead", "true"}}; }),
            "headrace_lock_ahead has no effect (the file system, unknown, takes no requests for "
            "locks)");
}

/// What leaders find when they plan is told with the reason of the path.
TEST(Hints, ThatDoNotFitTheStripesAreCorrectedByName) {
  const Watchdog watchdog("Hints.ThatDoNotFitTheStripesAreCorrectedByName", kCaseLimit);
  const Job job{2, 2, 12};
  Disk disk(0);
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    file::Hints hints = kExchanged;
    hints["cb_nodes"] = "3";
    hints["striping_factor"] = "2";
    const auto file = open(job, rank, team, files, hints);
    Bytes data = job.data(rank);
    EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    const std::string reason = file->hints().at("headrace_write_reason");
    EXPECT_EQ(reason.ends_with("; cb_nodes=3 gives 2 aggregators (2 stripes are shared out evenly "
                               "among 2)"),
              rank % 2 == 0)
        << reason;
    EXPECT_FALSE(file->close());
  });
}

/// Ranks that asked for other windows and owners move the right bytes all the same.
TEST(Hints, ThatDifferMoveTheSameBytes) {
  const Watchdog watchdog("Hints.ThatDifferMoveTheSameBytes", kCaseLimit);
  const Job job{2, 2, 12};
  Disk disk(0);
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    file::Hints hints = kExchanged;
    hints["cb_nodes"] = std::to_string(1 + rank);
    if (rank > 1) hints["cb_buffer_size"] = std::to_string(4 * kWindow);
    if (rank == 3) hints["headrace_write_path"] = "direct";
    const auto file = open(job, rank, team, files, hints);
    Bytes data = job.data(rank);
    EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    EXPECT_EQ(file->hints().at("headrace_write_taken"), "exchanged");
    Bytes back(data.size());
    EXPECT_EQ(move(*file, Direction::read, back).bytes, std::ssize(data));
    EXPECT_EQ(back, data);
    EXPECT_FALSE(file->close());
  });
}

}  // namespace
}  // namespace headrace::sim
