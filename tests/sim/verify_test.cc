#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/settings.h"
#include "sim/lying_files.h"
#include "sim/random.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

// Collective writes on a disk that lies, with HEADRACE_VERIFY=1: exactly the ranks whose bytes are
// not in the file get an error, which names the first of them.

namespace headrace::sim {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

enum class Way { blocking, nonblocking, split };

struct Piece {
  FileOffset begin;
  ByteCount len;
};
using Pieces = std::vector<Piece>;

/// One job: what each rank writes by one call, and how.
struct Job {
  std::vector<std::string> nodes;
  std::vector<Pieces> pieces;
  Way way = Way::blocking;
  bool reads = true;  ///< the file is open for reading, too
  bool is_atomic = false;
  std::string path_hint{};    ///< empty: the default path
  bool helpers_send = false;  ///< messages, for calls that go on by themselves
};

Job random_job(Random& random) {
  static const std::vector<std::vector<std::string>> kNodes{
      {"a"}, {"a", "a"}, {"a", "b"}, {"a", "a", "a"}, {"a", "a", "b"}, {"a", "b", "a", "b"}};
  Job job;
  job.nodes = kNodes[static_cast<std::size_t>(random.number(0, std::ssize(kNodes) - 1))];
  job.pieces.resize(job.nodes.size());
  const ByteCount most = random.chance(50) ? 3'000 : 90'000;
  FileOffset at = random.number(0, 5'000);
  for (std::int64_t i = random.number(1, 60); i > 0; --i) {
    const ByteCount len = random.number(1, most);
    if (random.chance(80)) {
      job.pieces[static_cast<std::size_t>(random.number(0, std::ssize(job.pieces) - 1))].push_back(
          {at, len});
    }
    at += len;
  }
  job.way = static_cast<Way>(random.number(0, 2));
  job.reads = random.chance(70);
  job.path_hint = random.one_of<std::string>({"staged", "direct", "exchanged"});
  job.is_atomic = random.chance(25);
  job.helpers_send = random.chance(50);
  return job;
}

std::uint8_t value_at(std::size_t rank, ByteCount position) {
  return static_cast<std::uint8_t>(1 + rank * 50 + static_cast<std::size_t>(position % 47));
}

Bytes data_of(const Job& job, std::size_t rank) {
  Bytes data;
  ByteCount position = 0;
  for (const Piece& piece : job.pieces[rank]) {
    for (ByteCount i = 0; i < piece.len; ++i) data.push_back(value_at(rank, position++));
  }
  return data;
}

/// The rank's write, and what its file's close returns.
struct Told {
  file::Outcome outcome;
  Error at_close;
};

file::Outcome write(file::File& file, Way way, Bytes& data) {
  const file::TransferCall call{Direction::write,   true, 0, data.data(), std::ssize(data),
                                view::make_basic(1)};
  if (way == Way::blocking) return file.transfer(call);
  if (way == Way::nonblocking) return file.start(call).value()->wait();
  EXPECT_FALSE(file.begin(call));
  return file.end(Direction::write, false, true);
}

Told run_rank(const Job& job, std::size_t rank, const std::shared_ptr<exchange::FileTeam>& team,
              storage::FileSystem& files) {
  const file::AccessMode mode{.read = job.reads, .write = true, .create = true};
  auto file =
      file::File::open(team, files, "file", mode,
                       {{"headrace_write_path", job.path_hint}, {"cb_buffer_size", "65536"}});
  EXPECT_TRUE(file);
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  for (const Piece& piece : job.pieces[rank]) {
    lengths.push_back(piece.len);
    offsets.push_back(piece.begin);
  }
  const view::TypePtr byte = view::make_basic(1);
  EXPECT_FALSE(file.value()->set_view(
      file::View{0, byte, view::make_hindexed(lengths, offsets, byte), "native"}));
  if (job.is_atomic) {
    EXPECT_FALSE(file.value()->set_atomicity(true));
  }
  Bytes data = data_of(job, rank);
  Told told;
  told.outcome = write(*file.value(), job.way, data);
  told.at_close = file.value()->close();
  return told;
}

/// The first byte of the rank's data that is not in the file: where it is in the data and the file.
std::pair<ByteCount, FileOffset> first_wrong(const Job& job, std::size_t rank,
                                             const Bytes& content) {
  ByteCount position = 0;
  for (const Piece& piece : job.pieces[rank]) {
    for (FileOffset at = piece.begin; at < piece.begin + piece.len; ++at, ++position) {
      const auto place = static_cast<std::size_t>(at);
      if (place >= content.size() || content[place] != value_at(rank, position)) {
        return {position, at};
      }
    }
  }
  return {kNone, kNone};
}

/// Calls that go on by themselves are checked on one node, or where helper threads may send; those
/// in atomic mode by their own rank. A split call that goes between nodes does not go on by itself.
bool is_checked(const Job& job) {
  return job.way == Way::blocking || job.is_atomic || job.helpers_send ||
         (job.way == Way::split && job.path_hint == "exchanged") ||
         std::ranges::count(job.nodes, "a") == std::ssize(job.nodes);
}

void check(const Job& job, const std::vector<Told>& told, const Bytes& content) {
  bool any = false;  // byte is wrong
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    const auto [position, offset] = first_wrong(job, rank, content);
    const Error& error = told[rank].outcome.error;
    any = any || (position != kNone && is_checked(job));
    if (position == kNone || !is_checked(job)) {
      EXPECT_FALSE(error) << "rank " << rank << " was told: " << error.message;
      continue;
    }
    EXPECT_EQ(error.error_class, ErrorClass::io) << "rank " << rank << " was told nothing";
    EXPECT_EQ(told[rank].outcome.bytes, position) << error.message;
    EXPECT_NE(error.message.find("bytes " + std::to_string(offset) + " to"), std::string::npos)
        << "at " << offset << ": " << error.message;
    EXPECT_NE(error.message.find("'file'"), std::string::npos) << error.message;
  }
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    if (told[rank].outcome.error) continue;
    EXPECT_EQ(static_cast<bool>(told[rank].at_close), any) << told[rank].at_close.message;
  }
}

TEST(Verify, FindsWhatTheStorageLoses) {
  if (!settings().verify) GTEST_SKIP() << "needs HEADRACE_VERIFY=1";
  const Budget budget = sim::budget(200);
  int found = 0;
  for (int i = 0; i < budget.cases * 3; ++i) {
    const std::uint64_t seed = budget.first_seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(again(seed));
    const Watchdog watchdog("Verify.FindsWhatTheStorageLoses", kCaseLimit);
    Random random(seed);
    const Job job = random_job(random);
    LiePlan plan;
    // A write in atomic mode that goes astray may hit what another rank has checked already.
    plan.lie = static_cast<Lie>(random.number(0, job.is_atomic ? 1 : 2));
    plan.nth = random.chance(80) ? random.number(0, 8) : kNone;
    Disk disk(random.chance(50) ? 0 : 3);
    if (random.chance(50)) disk.put("file", Bytes(2'000'000, 0xee));
    std::vector<Told> told(job.nodes.size());
    PostOffice office(static_cast<int>(job.nodes.size()), job.helpers_send);
    run_ranks(office, job.nodes, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto mine = static_cast<std::size_t>(rank);
      told[mine] = run_rank(job, mine, team, *lying_files(files, plan));
    });
    check(job, told, disk.content("file").value());
    for (const Told& one : told) found += one.outcome.error ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(found, budget.cases);
}

TEST(Verify, SaysThatItCouldNotReadRatherThanThatBytesAreLost) {
  if (!settings().verify) GTEST_SKIP() << "needs HEADRACE_VERIFY=1";
  const Watchdog watchdog("Verify.SaysThatItCouldNotRead", kCaseLimit);
  Disk disk(0);
  Job job{.nodes = {"a", "b"}, .pieces = {{{0, 100'000}}, {{100'000, 70'000}}}};
  std::vector<Told> told(job.nodes.size());
  // Rank 1, which reads back what rank 0 writes, cannot open the file after it was set up.
  disk.arm({.operation = Operation::reopen, .system_error = EMFILE, .rank = 1, .nth = 1});
  PostOffice office(2, false);
  run_ranks(office, job.nodes, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto mine = static_cast<std::size_t>(rank);
    told[mine] = run_rank(job, mine, team, files);
  });
  EXPECT_EQ(disk.disarm(), 1);
  EXPECT_FALSE(told[1].outcome.error) << told[1].outcome.error.message;
  const Error& error = told[0].outcome.error;
  EXPECT_EQ(error.error_class, ErrorClass::io);
  EXPECT_EQ(error.system_error, EMFILE);
  EXPECT_EQ(told[0].outcome.bytes, 0);
  EXPECT_NE(error.message.find("cannot read back bytes 0 to 99999"), std::string::npos)
      << error.message;
}

/// Then the descriptor of the program's own is used, as it was at the set-up.
TEST(Verify, ReadsByTheProgramsOwnDescriptorWhereNoOtherCanBeHad) {
  if (!settings().verify) GTEST_SKIP() << "needs HEADRACE_VERIFY=1";
  const Watchdog watchdog("Verify.ReadsByTheProgramsOwnDescriptor", kCaseLimit);
  Disk disk(0);
  Job job{.nodes = {"a", "b"}, .pieces = {{{0, 100'000}}, {{100'000, 70'000}}}};
  std::vector<Told> told(job.nodes.size());
  disk.arm({.operation = Operation::reopen, .system_error = EACCES});
  PostOffice office(2, false);
  run_ranks(office, job.nodes, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto mine = static_cast<std::size_t>(rank);
    told[mine] = run_rank(job, mine, team, files);
  });
  EXPECT_EQ(disk.disarm(), 4);
  for (const Told& one : told) EXPECT_FALSE(one.outcome.error) << one.outcome.error.message;
}

}  // namespace
}  // namespace headrace::sim
