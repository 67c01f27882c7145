#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "sim/random.h"
#include "sim/runner.h"
#include "sim/scenario.h"
#include "sim/watchdog.h"

// Collective writes whose ranks' pieces overlap: as many bytes as lie between the first and the
// last, and yet some are nobody's. MPI leaves open whose bytes an overlap gets, nothing else.

namespace headrace::sim {
namespace {

struct Piece {
  FileOffset begin;
  ByteCount len;
};
using Pieces = std::vector<Piece>;

constexpr std::uint8_t kOld = 0xee;

std::uint8_t value_of(std::size_t rank) {
  return static_cast<std::uint8_t>(rank + 1);
}

bool meets_another(const Pieces& pieces, std::size_t which) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != which && pieces[i].begin < pieces[which].begin + pieces[which].len &&
        pieces[which].begin < pieces[i].begin + pieces[i].len) {
      return true;
    }
  }
  return false;
}

/// Pieces of each rank that tile [0, end); then some are moved onto other ranks' pieces.
std::vector<Pieces> random_pieces(Random& random, std::size_t ranks, FileOffset end, int moves) {
  std::vector<Pieces> pieces(ranks);
  for (FileOffset at = 0; at < end;) {
    const ByteCount len = std::min<ByteCount>(end - at, random.number(1, 9'000));
    pieces[static_cast<std::size_t>(random.number(0, std::ssize(pieces) - 1))].push_back({at, len});
    at += len;
  }
  for (; moves > 0; --moves) {
    Pieces& mine = pieces[static_cast<std::size_t>(random.number(0, std::ssize(pieces) - 1))];
    if (mine.empty()) continue;
    const auto which = static_cast<std::size_t>(random.number(0, std::ssize(mine) - 1));
    const Piece before = mine[which];
    mine[which].begin = random.number(0, end - before.len);
    if (meets_another(mine, which)) mine[which] = before;
  }
  for (Pieces& mine : pieces) std::ranges::sort(mine, {}, &Piece::begin);
  return pieces;
}

void write_pieces(const std::shared_ptr<exchange::FileTeam>& team, storage::FileSystem& files,
                  const Pieces& pieces, std::uint8_t value) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  ByteCount bytes = 0;
  for (const Piece& piece : pieces) {
    lengths.push_back(piece.len);
    offsets.push_back(piece.begin);
    bytes += piece.len;
  }
  const file::Hints hints{{"headrace_write_path", "exchanged"}, {"cb_buffer_size", "65536"}};
  auto file = file::File::open(team, files, "file", {.read = true, .write = true}, hints);
  ASSERT_TRUE(file);
  const view::TypePtr byte = view::make_basic(1);
  ASSERT_FALSE(file.value()->set_view(
      file::View{0, byte, view::make_hindexed(lengths, offsets, byte), "native"}));
  Bytes data(static_cast<std::size_t>(bytes), value);
  const file::Outcome outcome =
      file.value()->transfer({Direction::write, true, 0, data.data(), bytes, byte});
  EXPECT_EQ(outcome.bytes, bytes) << outcome.error.message;
  EXPECT_FALSE(file.value()->close());
}

/// Each byte must be what one of the ranks that gave it wrote, or as before where none did.
void check(const Bytes& content, const std::vector<Pieces>& pieces) {
  std::vector<std::vector<std::uint8_t>> may_be(content.size());
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    for (const Piece& piece : pieces[rank]) {
      for (FileOffset at = piece.begin; at < piece.begin + piece.len; ++at) {
        may_be[static_cast<std::size_t>(at)].push_back(value_of(rank));
      }
    }
  }
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (may_be[at].empty()) may_be[at].push_back(kOld);
    ASSERT_TRUE(std::ranges::find(may_be[at], content[at]) != may_be[at].end())
        << "byte " << at << " is " << int{content[at]};
  }
}

TEST(Overlap, LeavesBytesThatNobodyGave) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the ranks write the same bytes, which is the race that this is about";
#endif
  const Budget budget = sim::budget(60);
  for (int i = 0; i < budget.cases; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(again(seed));
    const Watchdog watchdog("Overlap.LeavesBytesThatNobodyGave", kCaseLimit);
    Random random(seed);
    const auto ranks = static_cast<std::size_t>(random.number(2, 6));
    const FileOffset end = random.number(20'000, 500'000);
    const std::vector<Pieces> pieces =
        random_pieces(random, ranks, end, static_cast<int>(random.number(0, 3)));
    Disk disk(random.chance(50) ? 0 : 3);
    disk.put("file", Bytes(static_cast<std::size_t>(end) + 70'000, kOld));
    std::vector<std::string> nodes(ranks, "a");
    if (i % 2 == 1) nodes = random_nodes(random, static_cast<int>(ranks));
    run_ranks(nodes, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto mine = static_cast<std::size_t>(rank);
      write_pieces(team, files, pieces[mine], value_of(mine));
    });
    check(disk.content("file").value(), pieces);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace headrace::sim
