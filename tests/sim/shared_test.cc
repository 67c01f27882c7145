#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <limits>
#include <thread>

#include "sim/runner.h"
#include "sim/watchdog.h"

// The shared pointer: every record once, without gaps; ordered calls in rank order.

namespace headrace::sim {
namespace {

using file::Whence;

constexpr file::AccessMode kReadWriteCreate{.read = true, .write = true, .create = true};
constexpr int kRanks = 4;

/// Where the ranks are.
class Shared : public testing::TestWithParam<std::vector<std::string>> {};

std::unique_ptr<file::File> open(const std::shared_ptr<exchange::FileTeam>& team,
                                 storage::FileSystem& files,
                                 file::AccessMode mode = kReadWriteCreate,
                                 const file::Hints& hints = {}) {
  auto file = file::File::open(team, files, "file", mode, hints);
  EXPECT_TRUE(file) << file.error().message;
  return std::move(file.value());
}

file::TransferCall shared_call(Direction direction, bool ordered, Bytes& data) {
  return {.direction = direction,
          .collective = ordered,
          .offset = {},
          .buffer = data.data(),
          .count = std::ssize(data),
          .type = view::make_basic(1),
          .shared = true};
}

void write_shared(file::File& file, Bytes data) {
  const file::Outcome outcome = file.transfer(shared_call(Direction::write, false, data));
  EXPECT_FALSE(outcome.error) << outcome.error.message;
  EXPECT_EQ(outcome.bytes, std::ssize(data));
}

void write_ordered(file::File& file, Bytes data) {
  const file::Outcome outcome = file.transfer(shared_call(Direction::write, true, data));
  EXPECT_FALSE(outcome.error) << outcome.error.message;
  EXPECT_EQ(outcome.bytes, std::ssize(data));
}

Bytes read_shared(file::File& file, std::size_t size, bool ordered = false) {
  Bytes data(size);
  const file::Outcome outcome = file.transfer(shared_call(Direction::read, ordered, data));
  EXPECT_FALSE(outcome.error) << outcome.error.message;
  data.resize(static_cast<std::size_t>(outcome.bytes));
  return data;
}

/// A record that says whose it is, which, and how long.
Bytes record(int writer, int number) {
  Bytes bytes(static_cast<std::size_t>(4 + (writer * 7 + number * 13) % 50),
              static_cast<std::uint8_t>(writer));
  bytes[0] = static_cast<std::uint8_t>(bytes.size());
  bytes[2] = static_cast<std::uint8_t>(number);
  return bytes;
}

/// Fails unless `content` consists of records 0 ... count - 1 of each writer, each once.
void expect_all_records(const Bytes& content, int writers, int count) {
  std::vector<int> next(static_cast<std::size_t>(writers), 0);
  std::size_t at = 0;
  while (at < content.size()) {
    ASSERT_LE(at + 4, content.size());
    const int writer = content[at + 1];
    ASSERT_LT(writer, writers);
    // One writer's records come in the order in which it wrote them.
    const int number = next[static_cast<std::size_t>(writer)]++;
    const Bytes expected = record(writer, number);
    ASSERT_LE(at + expected.size(), content.size());
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), content.begin() + std::ptrdiff_t(at)))
        << "at " << at << ", record " << number << " of " << writer;
    at += expected.size();
  }
  EXPECT_EQ(next, std::vector<int>(static_cast<std::size_t>(writers), count));
}

TEST_P(Shared, KeepsEveryRecordOnce) {
  const Watchdog watchdog("Shared.KeepsEveryRecordOnce", kCaseLimit);
  constexpr int kThreads = 2;
  constexpr int kRecords = 60;
  Disk disk(9);
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kRecords; ++i) write_shared(*file, record(rank * kThreads + thread, i));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(file->close());
  });
  expect_all_records(disk.content("file").value(), kRanks * kThreads, kRecords);
}

TEST_P(Shared, OrderedCallsGoInRankOrder) {
  const Watchdog watchdog("Shared.OrderedCallsGoInRankOrder", kCaseLimit);
  for (const char* const path : {"direct", "staged", "exchanged"}) {
    Disk disk(9);
    const auto data = [](int rank, int turn) {
      return Bytes(static_cast<std::size_t>((rank * 11 + turn * 5) % 37),
                   static_cast<std::uint8_t>(1 + rank + turn * kRanks));
    };
    run_ranks(GetParam(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto file = open(team, files, kReadWriteCreate, {{"headrace_write_path", path}});
      std::int64_t written = 0;
      for (int turn = 0; turn < 30; ++turn) {
        write_ordered(*file, data(rank, turn));
        for (int other = 0; other < kRanks; ++other) written += std::ssize(data(other, turn));
        EXPECT_GE(file->positions().shared().value(), written);
      }
      EXPECT_FALSE(file->positions().seek_shared(0, Whence::set));
      for (int turn = 0; turn < 30; ++turn) {
        EXPECT_EQ(read_shared(*file, data(rank, turn).size(), true), data(rank, turn));
      }
      EXPECT_FALSE(file->close());
    });
    Bytes expected;
    for (int turn = 0; turn < 30; ++turn) {
      for (int rank = 0; rank < kRanks; ++rank) {
        const Bytes mine = data(rank, turn);
        expected.insert(expected.end(), mine.begin(), mine.end());
      }
    }
    EXPECT_EQ(disk.content("file").value(), expected);
  }
}

/// A rank whose arguments are wrong takes no place, and the others go on.
TEST_P(Shared, AWrongRankTakesPartInAnOrderedCall) {
  const Watchdog watchdog("Shared.AWrongRankTakesPart", kCaseLimit);
  Disk disk(0);
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    Bytes data(10, static_cast<std::uint8_t>(rank));
    file::TransferCall call = shared_call(Direction::write, true, data);
    if (rank == 1) call.count = -1;
    const file::Outcome outcome = file->transfer(call);
    EXPECT_EQ(outcome.error.error_class, rank == 1 ? ErrorClass::count : ErrorClass::success);
    EXPECT_FALSE(file->close());
  });
  Bytes expected(10, 0);
  for (const std::uint8_t rank : {2, 3}) expected.insert(expected.end(), 10, rank);
  EXPECT_EQ(disk.content("file").value(), expected);
}

TEST_P(Shared, PointerFollowsViewsAndSeeks) {
  const Watchdog watchdog("Shared.PointerFollowsViewsAndSeeks", kCaseLimit);
  Disk disk(0);
  disk.put("file", Bytes(100, 7));
  std::barrier meeting(kRanks);
  run_ranks(GetParam(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    file::AccessMode appending = kReadWriteCreate;
    appending.append = true;
    const auto file = open(team, files, appending);
    EXPECT_EQ(file->positions().shared().value(), 100);
    for (int turn = 0; turn < 5; ++turn) {
      const view::TypePtr number = view::make_basic(4);
      EXPECT_FALSE(file->set_view(file::View{turn * 8, number, number, "native"}, {}));
      EXPECT_EQ(file->positions().shared().value(), 0);
      meeting.arrive_and_wait();
      if (rank == kRanks - 1) {
        EXPECT_EQ(read_shared(*file, 12).size(), 12U);
        EXPECT_EQ(file->positions().shared().value(), 3);
      }
      EXPECT_FALSE(file->positions().seek_shared(2, Whence::current));
      EXPECT_EQ(file->positions().shared().value(), 5);
      EXPECT_EQ(file->positions().seek_shared(-6, Whence::current).error_class,
                ErrorClass::argument);
      EXPECT_EQ(file->positions().shared().value(), 5);
      EXPECT_FALSE(file->positions().seek_shared(-1, Whence::end));
      EXPECT_EQ(file->positions().shared().value(), 25 - 2 * turn - 1);
      EXPECT_EQ(file->positions().seek_shared(rank, Whence::set).error_class, ErrorClass::not_same);
      meeting.arrive_and_wait();
    }
    // A view that one rank refuses leaves the old one, and its pointer.
    file::View bad{0, view::make_basic(8), view::make_basic(4), "native"};
    EXPECT_TRUE(file->set_view(rank == 2 ? bad : file->current_view(), {}));
    EXPECT_EQ(file->positions().shared().value(), 25 - 8 - 1);
    EXPECT_FALSE(file->close());
  });
}

TEST_P(Shared, APointerThatWouldGoTooFarStays) {
  const Watchdog watchdog("Shared.APointerThatWouldGoTooFarStays", kCaseLimit);
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Disk disk(0);
  run_ranks(GetParam(), disk, [](int, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files);
    EXPECT_FALSE(file->positions().seek_shared(kHuge - 5, Whence::set));
    Bytes data(10);
    for (const bool ordered : {false, true}) {
      const file::Outcome outcome = file->transfer(shared_call(Direction::write, ordered, data));
      EXPECT_EQ(outcome.error.error_class, ErrorClass::argument);
    }
    EXPECT_EQ(file->positions().shared().value(), kHuge - 5);
    EXPECT_FALSE(file->close());
  });
  EXPECT_EQ(disk.content("file")->size(), 0U);
}

TEST_P(Shared, SequentialFilesGoByTheSharedPointerOnly) {
  const Watchdog watchdog("Shared.SequentialFiles", kCaseLimit);
  Disk disk(0);
  Bytes content(40);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i);
  disk.put("file", content);
  std::barrier meeting(kRanks);
  run_ranks(GetParam(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, {.read = true, .sequential = true});
    if (rank == 1) {
      EXPECT_EQ(read_shared(*file, 3), Bytes({0, 1, 2}));
    }
    const view::TypePtr pair = view::make_basic(2);
    file::View view{0, pair, pair, "native"};
    EXPECT_EQ(file->set_view(view, {}).error_class, ErrorClass::argument);
    view.from_shared_pointer = true;
    EXPECT_FALSE(file->set_view(view, {}));
    EXPECT_EQ(file->current_view().displacement, 3);
    const auto first = static_cast<std::uint8_t>(3 + rank * 2);
    EXPECT_EQ(read_shared(*file, 2, true), (Bytes{first, static_cast<std::uint8_t>(first + 1)}));
    EXPECT_FALSE(file->set_view(view, {}));
    EXPECT_EQ(file->current_view().displacement, 11);
    Bytes data(2);
    file::TransferCall call = shared_call(Direction::read, false, data);
    call.shared = false;
    EXPECT_EQ(file->transfer(call).error.error_class, ErrorClass::unsupported_operation);
    call.offset = 0;
    EXPECT_EQ(file->transfer(call).error.error_class, ErrorClass::unsupported_operation);
    EXPECT_EQ(file->positions().seek(0, Whence::set).error_class,
              ErrorClass::unsupported_operation);
    EXPECT_EQ(file->positions().seek_shared(0, Whence::set).error_class,
              ErrorClass::unsupported_operation);
    EXPECT_FALSE(file->close());

    const auto plain = open(team, files);
    EXPECT_EQ(plain->set_view(view, {}).error_class, ErrorClass::argument);
    EXPECT_FALSE(plain->close());
  });
}

TEST_P(Shared, ModesThatDifferFailEverywhere) {
  const Watchdog watchdog("Shared.ModesThatDiffer", kCaseLimit);
  Disk disk(0);
  run_ranks(GetParam(), disk, [](int rank, const auto& team, storage::FileSystem& files) {
    file::AccessMode mode = kReadWriteCreate;
    mode.create = rank != 2;
    const auto differing = file::File::open(team, files, "new", mode, {});
    ASSERT_FALSE(differing);
    EXPECT_EQ(differing.error().error_class, ErrorClass::not_same);
    const Error refused{ErrorClass::amode, 0, "wrong"};
    const auto wrong =
        file::File::open(team, files, "new", kReadWriteCreate, {}, rank == 3 ? refused : Error{});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().error_class, ErrorClass::amode);
  });
  EXPECT_FALSE(disk.content("new"));
}

INSTANTIATE_TEST_SUITE_P(Nodes, Shared,
                         testing::Values(std::vector<std::string>{"a", "a", "a", "a"},
                                         std::vector<std::string>{"a", "a", "b", "b"},
                                         std::vector<std::string>{"a", "b", "c", "b"}));

}  // namespace
}  // namespace headrace::sim
