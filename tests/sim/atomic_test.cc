#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "sim/runner.h"
#include "sim/watchdog.h"

// Atomic mode: conflicting calls go one after the other, in whatever order.

namespace headrace::sim {
namespace {

constexpr file::AccessMode kReadWriteCreate{.read = true, .write = true, .create = true};
constexpr int kRanks = 4;
constexpr std::int64_t kPieces = 30;
constexpr std::size_t kBytes = 2 * kPieces;

/// Where the ranks are.
class Atomic : public testing::TestWithParam<std::vector<std::string>> {};

std::unique_ptr<file::File> open(const std::shared_ptr<exchange::FileTeam>& team,
                                 storage::FileSystem& files) {
  auto file =
      file::File::open(team, files, "file", kReadWriteCreate, {{"headrace_write_path", "staged"}});
  EXPECT_TRUE(file) << file.error().message;
  return std::move(file.value());
}

/// Pieces of two bytes, far enough apart that each is written by a call of its own.
file::View view_of_pieces(std::int64_t displacement = 0) {
  const view::TypePtr pair = view::make_basic(2);
  return {.displacement = displacement, .etype = pair, .filetype = view::make_resized(pair, 0, 50)};
}

file::Outcome move(file::File& file, Direction direction, bool collective, Bytes& data) {
  return file.transfer(
      {direction, collective, 0, data.data(), std::ssize(data), view::make_basic(1)});
}

bool is_of_one(const Bytes& data) {
  return std::ranges::all_of(data, [&](std::uint8_t byte) { return byte == data.front(); });
}

TEST_P(Atomic, OverlappingCallsNeverMix) {
  const Watchdog watchdog("Atomic.OverlappingCallsNeverMix", kCaseLimit);
  constexpr int kThreads = 2;
  Disk disk(3);
  disk.put("file", Bytes(kPieces * 50, 0));
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    EXPECT_FALSE(file->set_view(view_of_pieces(), {}));
    EXPECT_FALSE(file->set_atomicity(true));
    EXPECT_TRUE(file->atomicity());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int turn = 0; turn < 12; ++turn) {
          Bytes mine(kBytes, static_cast<std::uint8_t>(1 + rank * kThreads + thread));
          EXPECT_EQ(move(*file, Direction::write, false, mine).bytes, std::ssize(mine));
          Bytes seen(kBytes);
          EXPECT_EQ(move(*file, Direction::read, false, seen).bytes, std::ssize(seen));
          EXPECT_TRUE(is_of_one(seen));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(file->close());
  });
}

TEST_P(Atomic, CollectiveCallsNeverMix) {
  const Watchdog watchdog("Atomic.CollectiveCallsNeverMix", kCaseLimit);
  Disk disk(3);
  disk.put("file", Bytes(kPieces * 50, 0));
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    EXPECT_FALSE(file->set_atomicity(true));
    EXPECT_FALSE(file->set_view(view_of_pieces(), {}));
    for (int turn = 0; turn < 12; ++turn) {
      Bytes mine(kBytes, static_cast<std::uint8_t>(1 + rank));
      EXPECT_EQ(move(*file, Direction::write, true, mine).bytes, std::ssize(mine));
      Bytes seen(kBytes);
      EXPECT_EQ(move(*file, Direction::read, true, seen).bytes, std::ssize(seen));
      EXPECT_TRUE(is_of_one(seen));
    }
    // Back to what is faster; calls may be staged again, and must not overlap.
    EXPECT_FALSE(file->set_atomicity(false));
    EXPECT_FALSE(file->atomicity());
    EXPECT_FALSE(file->set_view(view_of_pieces(2 * rank), {}));
    Bytes mine(kBytes, 9);
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(move(*file, Direction::write, true, mine).bytes, std::ssize(mine));
    }
    EXPECT_FALSE(file->close());
  });
  const Bytes content = disk.content("file").value();
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    for (std::size_t byte = 0; byte < 2 * kRanks; ++byte) {
      EXPECT_EQ(content[piece * 50 + byte], 9);
    }
  }
}

TEST_P(Atomic, AllRanksMustAskForIt) {
  const Watchdog watchdog("Atomic.AllRanksMustAskForIt", kCaseLimit);
  Disk disk(0);
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    EXPECT_EQ(file->set_atomicity(rank != 1).error_class, ErrorClass::not_same);
    EXPECT_FALSE(file->atomicity());
    EXPECT_FALSE(file->close());
  });
}

/// Locks that do not exist, or do not reach other nodes: refused where ranks are on several.
TEST_P(Atomic, IsRefusedWhereLocksDoNotHold) {
  const Watchdog watchdog("Atomic.IsRefusedWhereLocksDoNotHold", kCaseLimit);
  const std::vector<std::string>& nodes = GetParam();
  const bool spans_nodes = std::ranges::any_of(nodes, [&](auto& node) { return node != nodes[0]; });
  const ErrorClass expected = spans_nodes ? ErrorClass::unsupported_operation : ErrorClass::success;
  for (const bool exist : {false, true}) {
    Disk disk(0);
    if (exist) disk.ignore_locks();
    if (!exist) disk.arm({.operation = Operation::lock, .system_error = ENOLCK});
    run_ranks(nodes, disk, [&](int, const auto& team, storage::FileSystem& files) {
      const auto file = open(team, files);
      EXPECT_EQ(file->set_atomicity(true).error_class, expected);
      EXPECT_EQ(file->atomicity(), !spans_nodes);
      EXPECT_FALSE(file->set_atomicity(false));
      EXPECT_FALSE(file->close());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Atomic,
                         testing::Values(std::vector<std::string>{"a", "a", "a", "a"},
                                         std::vector<std::string>{"a", "b", "a", "b"},
                                         std::vector<std::string>{"a", "b", "c", "d"}));

}  // namespace
}  // namespace headrace::sim
