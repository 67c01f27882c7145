#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <limits>
#include <thread>

#include "base/settings.h"
#include "sim/cores.h"
#include "sim/runner.h"
#include "sim/watchdog.h"
#include "storage/kinds.h"
#include "topo/node.h"

// What the random scenarios do not reach.

namespace headrace::sim {
namespace {

constexpr file::AccessMode kReadWriteCreate{.read = true, .write = true, .create = true};

std::unique_ptr<file::File> open(const std::shared_ptr<exchange::FileTeam>& team,
                                 storage::FileSystem& files, const std::string& path,
                                 const file::Hints& hints = {}) {
  auto file = file::File::open(team, files, path, kReadWriteCreate, hints);
  EXPECT_TRUE(file) << file.error().message;
  return std::move(file.value());
}

file::TransferCall call(Direction direction, bool collective, std::int64_t offset, Bytes& data) {
  return {direction, collective, offset, data.data(), std::ssize(data), view::make_basic(1)};
}

TEST(Edges, RefusesWhatDoesNotFitIntoAnOffset) {
  Disk disk(0);
  run_ranks({"a"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    const auto file = open(team, files, "file");
    const view::TypePtr number = view::make_basic(8);
    EXPECT_FALSE(
        file->set_view(file::View{100, number, view::make_resized(number, 0, 80), "native"}));
    EXPECT_FALSE(file->positions().seek(kHuge, file::Whence::set));
    EXPECT_EQ(file->positions().seek(1, file::Whence::current).error_class, ErrorClass::argument);
    EXPECT_EQ(file->positions().individual().value(), kHuge);
    EXPECT_EQ(file->positions().byte_offset(kHuge).error().error_class, ErrorClass::argument);
    EXPECT_EQ(file->positions().byte_offset(kHuge / 50).error().error_class, ErrorClass::argument);
    EXPECT_EQ(file->positions().byte_offset(1'000'000'000'000).value(), 80'000'000'000'100);
    Bytes data(16);
    for (const Direction direction : {Direction::write, Direction::read}) {
      for (const std::int64_t offset : {kHuge, kHuge / 8, kHuge / 50}) {
        for (const bool collective : {false, true}) {
          const file::Outcome outcome = file->transfer(call(direction, collective, offset, data));
          EXPECT_EQ(outcome.error.error_class, ErrorClass::argument);
          EXPECT_EQ(outcome.bytes, 0);
        }
      }
    }
    EXPECT_FALSE(file->close());
  });
}

TEST(Edges, RanksThatCallInOtherDirectionsAllReturn) {
  const Watchdog watchdog("Edges.RanksThatCallInOtherDirections", kCaseLimit);
  for (const std::string nodes : {"aaaaa", "abbab"}) {
    Disk disk(0);
    disk.put("file", Bytes(300'000, 7));
    std::vector<std::string> names;
    for (const char name : nodes) names.emplace_back(1, name);
    run_ranks(names, disk, [](int rank, const auto& team, storage::FileSystem& files) {
      const auto file =
          open(team, files, "file",
               {{"headrace_write_path", "exchanged"}, {"headrace_read_path", "exchanged"}});
      Bytes data(40'000, static_cast<std::uint8_t>(rank));
      for (int turn = 0; turn < 20; ++turn) {
        const bool writes = (rank + turn) % 2 == 0;
        const file::Outcome outcome = file->transfer(
            call(writes ? Direction::write : Direction::read, true, rank * 40'000, data));
        EXPECT_EQ(outcome.bytes, 40'000);
        EXPECT_FALSE(outcome.error);
      }
      EXPECT_FALSE(file->close());
    });
  }
}

/// One sets a view while the other reads or writes: each is told something, and nothing is taken
/// for what it is not.
TEST(Edges, RanksThatCallOtherProceduresAllReturn) {
  const Watchdog watchdog("Edges.RanksThatCallOtherProcedures", kCaseLimit);
  if (settings().verify) GTEST_SKIP() << "ranks meet more often in a write than in set_view";
  for (const Direction direction : {Direction::write, Direction::read}) {
    Disk disk(0);
    disk.put("file", Bytes(80'000, 7));
    run_ranks({"a", "a"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto file = open(team, files, "file",
                             {{"headrace_write_path", "staged"}, {"headrace_read_path", "staged"}});
      const view::TypePtr byte = view::make_basic(1);
      const view::TypePtr half = view::make_resized(view::make_contiguous(8, byte), 0, 16);
      Bytes data(40'000, 7);
      for (int step = 0; step < 2; ++step) {
        if (step == rank) {
          static_cast<void>(file->set_view(file::View{rank * 8, byte, half, "native"}));
        } else {
          const file::Outcome outcome = file->transfer(call(direction, true, 0, data));
          EXPECT_EQ(outcome.bytes, std::ssize(data));
        }
      }
      EXPECT_FALSE(file->close());
    });
  }
}

/// Ranks that are bound to cores of their own may each count those alone: windows are the same.
TEST(Edges, RanksThatCountOtherCoresChooseTheSameWindows) {
  const Watchdog watchdog("Edges.RanksThatCountOtherCores", kCaseLimit);
  constexpr int kRanks = 4;
  static constexpr std::int64_t kPart = 250'000;
  Disk disk(0);
  run_ranks(
      std::vector<std::string>(kRanks, "a"), disk,
      [](int rank, const auto& team, storage::FileSystem& files) {
        see_cores(rank + 1);
        const auto file = open(team, files, "file",
                               {{"headrace_write_path", "staged"},
                                {"headrace_read_path", "staged"},
                                {"cb_buffer_size", "1048576"}});
        Bytes data(kPart, static_cast<std::uint8_t>(rank));
        Bytes back(kPart, 0xee);
        for (int turn = 0; turn < 3; ++turn) {
          EXPECT_EQ(file->transfer(call(Direction::write, true, rank * kPart, data)).bytes, kPart);
          EXPECT_EQ(file->transfer(call(Direction::read, true, rank * kPart, back)).bytes, kPart);
          EXPECT_EQ(back, data);
        }
        EXPECT_FALSE(file->close());
      });
  const Bytes content = disk.content("file").value();
  ASSERT_EQ(std::ssize(content), kRanks * kPart);
  for (std::int64_t i = 0; i < std::ssize(content); ++i) {
    ASSERT_EQ(content[static_cast<std::size_t>(i)], i / kPart);
  }
}

/// More ranks than cores, so that who has more to copy leaves writing to a rank that sleeps: every
/// other has no data, so that it sleeps in the next call already, and the first one's ends early.
TEST(Edges, CrowdedRanksWriteForEachOther) {
  const Watchdog watchdog("Edges.CrowdedRanksWriteForEachOther", kCaseLimit);
  static constexpr std::int64_t kPiece = 1'000;
  static constexpr std::int64_t kPieces = 96;
  const int ranks = std::max(6, topo::node_cores() + 1) / 2 * 2;
  const int writers = ranks / 2;
  const auto pieces_of = [](int writer, int turn) {
    return writer == 0 && turn % 2 == 1 ? kPieces / 4 : kPieces;
  };
  Disk disk(0);
  run_ranks(
      std::vector<std::string>(static_cast<std::size_t>(ranks), "a"), disk,
      [&](int rank, const auto& team, storage::FileSystem& files) {
        const int writer = rank / 2;
        const view::TypePtr byte = view::make_basic(1);
        const view::TypePtr piece =
            view::make_resized(view::make_contiguous(kPiece, byte), 0, writers * kPiece);
        for (int turn = 0; turn < 8; ++turn) {
          const auto file = open(team, files, "file" + std::to_string(turn),
                                 {{"headrace_write_path", "staged"}, {"cb_buffer_size", "8192"}});
          EXPECT_FALSE(file->set_view(file::View{writer * kPiece, byte, piece, "native"}));
          const std::int64_t num = rank % 2 == 0 ? pieces_of(writer, turn) : 0;
          Bytes data(static_cast<std::size_t>(num * kPiece), static_cast<std::uint8_t>(writer + 1));
          const file::Outcome done = file->transfer(call(Direction::write, true, 0, data));
          EXPECT_EQ(done.bytes, std::ssize(data)) << done.error.message;
          EXPECT_FALSE(file->close());
        }
      });
  for (int turn = 0; turn < 8; ++turn) {
    const Bytes content = disk.content("file" + std::to_string(turn)).value();
    ASSERT_EQ(std::ssize(content), writers * kPieces * kPiece);
    for (std::int64_t i = 0; i < std::ssize(content); ++i) {
      const std::int64_t number = i / kPiece;
      const auto writer = static_cast<int>(number % writers);
      const bool is_written = number / writers < pieces_of(writer, turn);
      ASSERT_EQ(content[static_cast<std::size_t>(i)], is_written ? writer + 1 : 0) << i;
    }
  }
}

/// One thread closes a file while another opens and uses files on the same communicator, and each
/// rank does so at its own speed: a place that is free on one rank may still be used on another.
TEST(Edges, FilesCloseWhileOthersOpen) {
  const Watchdog watchdog("Edges.FilesCloseWhileOthersOpen", kCaseLimit);
  constexpr int kRanks = 4;
  for (int turn = 0; turn < 20; ++turn) {
    Disk disk(turn % 4 == 0 ? 0 : 3);
    const std::vector<std::string> nodes = turn % 2 == 0
                                               ? std::vector<std::string>(kRanks, "a")
                                               : std::vector<std::string>{"a", "a", "b", "b"};
    run_ranks(nodes, disk, [](int rank, const auto& team, storage::FileSystem& files) {
      const auto use = [&](const std::unique_ptr<file::File>& file) {
        Bytes data(3'000, static_cast<std::uint8_t>(rank));
        for (int i = 0; i < 3; ++i) {
          const auto outcome = file->transfer(call(Direction::write, true, rank * 3'000, data));
          EXPECT_EQ(outcome.bytes, 3'000) << outcome.error.message;
        }
        EXPECT_FALSE(file->close());
      };
      const file::Hints staged{{"headrace_write_path", "staged"}};
      std::unique_ptr<file::File> old = open(team, files, "old", staged);
      std::thread closing([&] {
        use(old);
        old.reset();
      });
      for (int i = 0; i < 6; ++i) use(open(team, files, "new", staged));
      closing.join();
    });
    const Bytes content = disk.content("old").value();
    EXPECT_EQ(content, disk.content("new").value());
    for (std::size_t i = 0; i < content.size(); ++i) ASSERT_EQ(content[i], i / 3'000);
  }
}

/// Independent calls of several threads of a rank on one file, each on bytes of its own.
TEST(Edges, ThreadsShareAFile) {
  constexpr int kThreads = 4;
  Disk disk(5);
  run_ranks({"a", "a"}, disk, [](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, "file");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Bytes data(500, static_cast<std::uint8_t>(rank * kThreads + thread));
        for (int i = 0; i < 20; ++i) {
          const std::int64_t offset = ((i * 2 + rank) * kThreads + thread) * 500;
          EXPECT_EQ(file->transfer(call(Direction::write, false, offset, data)).bytes, 500);
          Bytes back(500);
          EXPECT_EQ(file->transfer(call(Direction::read, false, offset, back)).bytes, 500);
          EXPECT_EQ(back, data);
          EXPECT_FALSE(file->sync());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(file->close());
  });
  EXPECT_EQ(disk.content("file")->size(), 20U * 2 * kThreads * 500);
}

/// Each call of a thread that moves the individual pointer counts, beside those of others.
TEST(Edges, ThreadsMoveThePointer) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 2'000;
  Disk disk(6);
  run_ranks({"a"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, "file");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Bytes data(3);
        file::TransferCall write = call(Direction::write, false, 0, data);
        write.offset.reset();
        for (int i = 0; i < kCalls; ++i) {
          if (thread % 2 == 0) {
            EXPECT_FALSE(file->positions().seek(1, file::Whence::current));
          } else {
            EXPECT_EQ(file->transfer(write).bytes, 3);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(file->positions().individual().value(), kThreads / 2 * kCalls * (1 + 3));
    EXPECT_FALSE(file->close());
  });
}

/// A call beside another thread's set_view sees the view before it or the one after it.
TEST(Edges, ACallIsOfOneView) {
  constexpr int kCalls = 3'000;
  Disk disk(7);
  run_ranks({"a"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, "file");
    std::atomic<bool> is_over = false;
    std::thread setting([&] {
      const view::TypePtr types[] = {view::make_basic(1), view::make_basic(8)};
      for (int i = 0; !is_over; ++i) {
        EXPECT_FALSE(file->set_view(file::View{0, types[i % 2], types[i % 2], "native"}));
      }
    });
    Bytes data(8, 1);
    for (int i = 0; i < kCalls; ++i) {
      // Every second byte of memory, so that it takes the general way.
      const file::Outcome outcome = file->transfer({Direction::write, false, 3, data.data(), 4,
                                                    view::make_resized(view::make_basic(1), 0, 2)});
      EXPECT_TRUE(outcome.bytes == 4 || outcome.error.error_class == ErrorClass::argument);
    }
    is_over = true;
    setting.join();
    EXPECT_FALSE(file->close());
  });
  EXPECT_LE(disk.content("file")->size(), 7U);
}

/// All ranks of a call that only some take part in: those without data wait for nobody. But a write
/// that is verified waits for all, since each rank reads back another's bytes.
TEST(Edges, ARankWithoutDataWaitsForNobody) {
  const Watchdog watchdog("Edges.ARankWithoutDataWaitsForNobody", kCaseLimit);
  Disk disk(0);
  std::atomic<bool> may_go_on{false};
  run_ranks({"a", "a"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, "file", {{"headrace_write_path", "staged"}});
    Bytes data(rank == 0 ? 0 : 100, 1);
    if (rank == 1 && !settings().verify) may_go_on.wait(false);
    EXPECT_FALSE(file->transfer(call(Direction::write, true, 0, data)).error);
    if (rank == 0) {
      may_go_on = true;
      may_go_on.notify_all();
    }
    EXPECT_FALSE(file->close());
  });
}

/// Nor does one that reads little, and the others' windows, which lie in slots in turn, do not wait
/// for it (but where writes are verified all ranks meet).
TEST(Edges, ARankThatReadsLittleWaitsForNobody) {
  const Watchdog watchdog("Edges.ARankThatReadsLittleWaitsForNobody", kCaseLimit);
  static constexpr std::int64_t kPiece = 64;
  static constexpr std::int64_t kPieces = 4'000;
  Disk disk(0);
  disk.pretend({.kind = storage::find_kind(0xef53, "")});  // ext4
  std::atomic<bool> may_go_on{false};
  run_ranks({"a", "a"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(team, files, "file", {{"cb_buffer_size", "8192"}});
    const view::TypePtr byte = view::make_basic(1);
    const view::TypePtr piece =
        view::make_resized(view::make_contiguous(kPiece, byte), 0, 2 * kPiece);
    EXPECT_FALSE(file->set_view(file::View{rank * kPiece, byte, piece, "native"}));
    Bytes data(kPieces * kPiece);
    std::ranges::generate(data, [n = rank]() mutable { return static_cast<std::uint8_t>(++n); });
    EXPECT_EQ(file->transfer(call(Direction::write, true, 0, data)).bytes, std::ssize(data));
    if (rank == 1 && !settings().verify) may_go_on.wait(false);
    // More calls than slots, so that none may be kept for a rank that does not come.
    for (int turn = 0; turn < 12; ++turn) {
      const std::int64_t begin = 37 * turn;
      const std::int64_t num = rank == 0 ? 2 * kPiece : std::ssize(data) - begin;
      Bytes back(static_cast<std::size_t>(num));
      EXPECT_EQ(file->transfer(call(Direction::read, true, begin, back)).bytes, num);
      EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin() + begin));
      if (rank == 0 && turn == 2) {
        may_go_on = true;
        may_go_on.notify_all();
      }
    }
    const std::string reason = file->hints().at("headrace_read_reason");
    EXPECT_EQ(reason.find("sooner than ranks could meet") != std::string::npos, rank == 0);
    EXPECT_FALSE(file->close());
  });
}

TEST(Edges, FailedOpensLeaveNothing) {
  const Watchdog watchdog("Edges.FailedOpensLeaveNothing", kCaseLimit);
  Disk disk(0);
  run_ranks({"a", "a", "b"}, disk, [](int, const auto& team, storage::FileSystem& files) {
    for (int i = 0; i < 50; ++i) {
      const auto missing = file::File::open(team, files, "missing", {.read = true}, {});
      ASSERT_FALSE(missing);
      EXPECT_EQ(missing.error().error_class, ErrorClass::no_such_file);
    }
    file::AccessMode exclusive = kReadWriteCreate;
    exclusive.exclusive = true;
    exclusive.delete_on_close = true;
    const auto first = file::File::open(team, files, "new", exclusive, {});
    ASSERT_TRUE(first);
    const auto second = file::File::open(team, files, "new", exclusive, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().error_class, ErrorClass::file_exists);
    EXPECT_FALSE(first.value()->close());
  });
  EXPECT_FALSE(disk.content("new"));
}

}  // namespace
}  // namespace headrace::sim
