#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"

// Ranks that do not come with the same: files, and room for a team.

namespace headrace::sim {
namespace {

/// What each of four ranks on two nodes, with a file of its own by one call, finds in its file.
struct Found {
  std::string way;
  std::string reason;
  std::string corrections;
};

Found write_own_files(Disk& disk, const file::Hints& hints) {
  const Watchdog watchdog("files of ranks' own", kCaseLimit);
  const Job job{.nodes = 2, .ranks_per_node = 2, .pieces = 20};
  Found found;
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const std::string name = "file" + std::to_string(rank);
    auto file =
        file::File::open(team, files, name, {.read = true, .write = true, .create = true}, hints);
    ASSERT_TRUE(file) << file.error().message;
    const view::TypePtr byte = view::make_basic(1);
    const view::TypePtr piece =
        view::make_resized(view::make_contiguous(kPiece, byte), 0, kPiece * job.ranks());
    ASSERT_FALSE(file.value()->set_view(file::View{rank * kPiece, byte, piece, "native"}));
    Bytes data = job.data(rank);
    EXPECT_EQ(move(*file.value(), Direction::write, data).bytes, std::ssize(data));
    EXPECT_FALSE(file.value()->positions().seek(0, file::Whence::set));
    Bytes back(data.size());
    EXPECT_EQ(move(*file.value(), Direction::read, back).bytes, std::ssize(data));
    EXPECT_EQ(back, data);
    if (rank == 3) {
      const file::Hints told = file.value()->hints();
      found.way = told.at("headrace_write_taken");
      found.reason = told.at("headrace_write_reason");
      const auto corrections = told.find("headrace_corrections");
      if (corrections != told.end()) found.corrections = corrections->second;
    }
    EXPECT_FALSE(file.value()->close());
    const Bytes content = disk.content(name).value();
    for (std::size_t at = 0; at < data.size(); ++at) {
      const std::size_t place = at / kPiece * kPiece * 4 + rank * kPiece + at % kPiece;
      ASSERT_EQ(content.at(place), data[at]) << "byte " << at << " of rank " << rank;
    }
  });
  return found;
}

Disk& with_four_files(Disk& disk) {
  disk.pretend({.kind = 1, .is_coherent = true});
  for (int rank = 0; rank < 4; ++rank) disk.put("file" + std::to_string(rank), Bytes{});
  return disk;
}

TEST(DifferingRanks, OfDifferentFilesMoveTheirOwnData) {
  for (const file::Hints& hints : {file::Hints{}, kExchanged}) {
    Disk disk(0);
    const Found found = write_own_files(with_four_files(disk), hints);
    EXPECT_EQ(found.way, "direct");
    EXPECT_EQ(found.reason, "the ranks have opened different files");
    EXPECT_NE(found.corrections.find("MPI_COMM_SELF"), std::string::npos) << found.corrections;
  }
}

TEST(DifferingRanks, KeepATeamWhereAllHaveRoom) {
  const Watchdog watchdog("teams", kCaseLimit);
  for (const std::vector<std::string>& nodes :
       {std::vector<std::string>{"a"}, {"a", "a", "a"}, {"a", "b", "b"}}) {
    for (int full = -1; full < std::ssize(nodes); ++full) {
      PostOffice office(static_cast<int>(nodes.size()));
      std::vector<std::thread> threads;
      for (int rank = 0; rank < office.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
          const auto team =
              exchange::FileTeam::create(std::make_unique<MailboxMessenger>(office, rank),
                                         nodes[static_cast<std::size_t>(rank)], rank != full);
          ASSERT_TRUE(team);
          EXPECT_EQ(team.value()->ranks().may_stay(), full < 0) << "rank " << rank;
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  }
}

}  // namespace
}  // namespace headrace::sim
