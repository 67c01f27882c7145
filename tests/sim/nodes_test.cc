#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <set>
#include <utility>

#include "base/settings.h"
#include "engine/file.h"
#include "exchange/node_team.h"
#include "plan/exchange_plan.h"
#include "sim/ranks.h"
#include "sim/watchdog.h"

// Collective calls that go between nodes: the bytes, the messages, and owners that fail.

namespace headrace::sim {
namespace {

constexpr ByteCount kPiece = 10'000;
constexpr ByteCount kWindow = 65'536;

/// Ranks whose pieces take turns in the file.
struct Job {
  int nodes = 1;
  int ranks_per_node = 1;
  std::int64_t pieces = 0;  ///< of each rank
  bool in_blocks = true;    ///< neighbours in rank order share a node

  int ranks() const { return nodes * ranks_per_node; }
  int node_of(int rank) const { return in_blocks ? rank / ranks_per_node : rank % nodes; }
  ByteCount bytes() const { return ranks() * pieces * kPiece; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (int rank = 0; rank < ranks(); ++rank) names.push_back(std::to_string(node_of(rank)));
    return names;
  }

  static std::uint8_t value(FileOffset at) {
    return static_cast<std::uint8_t>((at * 2654435761U) >> 13);
  }
  Bytes data(int rank) const {
    Bytes data;
    for (std::int64_t i = 0; i < pieces * kPiece; ++i) {
      const std::int64_t piece = i / kPiece * ranks() + rank;
      data.push_back(value(piece * kPiece + i % kPiece));
    }
    return data;
  }

  plan::ExchangePlan plan() const {
    std::vector<plan::RankRange> ranges(static_cast<std::size_t>(nodes));
    for (int rank = 0; rank < ranks(); ++rank) {
      plan::RankRange& range = ranges[static_cast<std::size_t>(node_of(rank))];
      const FileOffset begin = rank * kPiece;
      if (range.bytes == 0) range.begin = begin;
      range.end = std::max(range.end, bytes() - (ranks() - 1 - rank) * kPiece);
      range.bytes += pieces * kPiece;
    }
    return {ranges, kWindow, plan::Owners::in_turn(nodes)};
  }
  /// What nodes have in windows of others.
  struct Payload {
    ByteCount bytes = 0;
    std::set<std::pair<int, std::int64_t>> parts;  ///< node and window
  };
  Payload payload() const {
    const plan::ExchangePlan plan = this->plan();
    Payload payload;
    for (FileOffset at = 0; at < bytes(); at += kPiece) {
      const int node = node_of(static_cast<int>(at / kPiece % ranks()));
      for (FileOffset begin = at; begin < at + kPiece;) {
        const FileOffset end = std::min(at + kPiece, (begin / kWindow + 1) * kWindow);
        const std::int64_t window = plan.windows().window_of(begin);
        if (plan.owner_of(window) != node) {
          payload.bytes += end - begin;
          payload.parts.emplace(node, window);
        }
        begin = end;
      }
    }
    return payload;
  }
};

const engine::Hints kExchanged{{"headrace_write_path", "exchanged"},
                               {"headrace_read_path", "exchanged"},
                               {"cb_buffer_size", std::to_string(kWindow)},
                               {"striping_unit", std::to_string(kWindow)}};

std::unique_ptr<engine::File> open(const Job& job, int rank,
                                   const std::shared_ptr<exchange::Team>& team,
                                   storage::FileSystem& files, const engine::Hints& hints) {
  auto file =
      engine::File::open(team, files, "file", {.read = true, .write = true, .create = true}, hints);
  EXPECT_TRUE(file);
  const view::TypePtr byte = view::make_basic(1);
  const view::TypePtr piece =
      view::make_resized(view::make_contiguous(kPiece, byte), 0, kPiece * job.ranks());
  EXPECT_FALSE(file.value()->set_view(engine::View{rank * kPiece, byte, piece, "native"}));
  return std::move(file.value());
}

engine::Outcome move(engine::File& file, Direction direction, Bytes& data) {
  return file.transfer({direction, true, 0, data.data(), std::ssize(data), view::make_basic(1)});
}

/// What the ranks' messages were in one call. Where they verify, parts and answers only.
struct Counted {
  std::int64_t messages = 0;
  ByteCount bytes = 0;
};

struct Meter {
  Meter(PostOffice& post_office, int ranks) : office(post_office), barrier(ranks) {}

  /// Calls `action` on all ranks and counts their messages; on the first rank.
  template <class Action>
  Counted count(int rank, Action action) {
    barrier.arrive_and_wait();
    if (rank == 0) before = of_exchange();
    barrier.arrive_and_wait();
    action();
    barrier.arrive_and_wait();
    const Counted after = of_exchange();
    const Counted counted{after.messages - before.messages, after.bytes - before.bytes};
    barrier.arrive_and_wait();
    return counted;
  }

  /// So far. Ranks that verify use the channel's own tag, as leaders do that meet.
  Counted of_exchange() const {
    const int first_tag = settings().verify ? exchange::MemoryLayout::kMostChannels : 0;
    return {office.messages(first_tag), office.bytes(first_tag)};
  }

  PostOffice& office;
  std::barrier<> barrier;
  Counted before;
};

class Nodes : public testing::TestWithParam<Job> {};

TEST_P(Nodes, SendWhatThePlanSaysAndNoMore) {
  const Job job = GetParam();
  const Watchdog watchdog("Nodes.SendWhatThePlanSaysAndNoMore", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks());
  Meter meter(office, job.ranks());
  const plan::Traffic traffic = job.plan().traffic();
  const std::int64_t meeting = plan::meeting_messages(job.nodes);
  const std::int64_t counted_meeting = settings().verify ? 0 : meeting;
  const Job::Payload payload = job.payload();
  std::atomic<std::int64_t> sent_messages = 0;
  std::atomic<std::int64_t> sent_bytes = 0;
  std::atomic<std::int64_t> told_messages = 0;
  std::atomic<std::int64_t> told_bytes = 0;
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, kExchanged);
    Bytes data = job.data(rank);
    for (int turn = 0; turn < 2; ++turn) {
      const Counted written = meter.count(
          rank, [&] { EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data)); });
      Bytes back(data.size());
      const Counted read = meter.count(
          rank, [&] { EXPECT_EQ(move(*file, Direction::read, back).bytes, std::ssize(data)); });
      EXPECT_EQ(back, data);
      if (rank != 0) continue;
      sent_messages += written.messages + read.messages;
      sent_bytes += written.bytes + read.bytes;
      EXPECT_EQ(written.messages, counted_meeting + traffic.parts + traffic.pairs);
      EXPECT_LE(traffic.parts, job.nodes * (job.nodes - 1) * traffic.rounds);
      EXPECT_GE(written.bytes, payload.bytes);
      EXPECT_LE(written.bytes, payload.bytes + payload.bytes / 20);
      EXPECT_EQ(read.messages, counted_meeting + traffic.parts + std::ssize(payload.parts));
      EXPECT_LE(read.bytes, payload.bytes + payload.bytes / 20);
    }
    const engine::Hints hints = file->hints();
    if (hints.contains("headrace_messages_sent")) {
      told_messages += std::stoll(hints.at("headrace_messages_sent"));
      told_bytes += std::stoll(hints.at("headrace_bytes_sent"));
    }
    EXPECT_EQ(hints.at("headrace_write_taken"), job.nodes > 1 ? "exchanged" : "staged");
    EXPECT_FALSE(file->close());
  });
  EXPECT_EQ(told_messages, sent_messages + 4 * (meeting - counted_meeting));
  if (!settings().verify) {
    EXPECT_EQ(told_bytes, sent_bytes);
  }
  const Bytes content = disk.content("file").value();
  ASSERT_EQ(std::ssize(content), job.bytes());
  for (FileOffset at = 0; at < job.bytes(); ++at) {
    ASSERT_EQ(content[static_cast<std::size_t>(at)], Job::value(at)) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Nodes,
                         testing::Values(Job{4, 2, 40}, Job{2, 4, 40}, Job{4, 2, 40, false},
                                         Job{3, 1, 50}, Job{7, 3, 12}, Job{2, 2, 1},
                                         Job{1, 4, 20}));

/// An owner that cannot write: who has bytes in that window or behind it is told, and what the
/// others count is in the file.
TEST(NodesThatFail, TellOfWhatIsNotWritten) {
  const Job job{3, 2, 30};
  for (const int system_error : {EIO, ENOSPC, EFBIG, EDQUOT, EACCES}) {
    SCOPED_TRACE(system_error);
    const Watchdog watchdog("NodesThatFail.TellOfWhatIsNotWritten", kCaseLimit);
    Disk disk(0);
    std::barrier barrier(job.ranks());
    std::vector<ByteCount> counted(static_cast<std::size_t>(job.ranks()));
    run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto file = open(job, rank, team, files, kExchanged);
      Bytes data = job.data(rank);
      Fault fault{.operation = Operation::write, .system_error = system_error};
      fault.beyond = 5 * kWindow + 100;
      if (rank == 0) disk.arm(fault);
      barrier.arrive_and_wait();
      const engine::Outcome outcome = move(*file, Direction::write, data);
      barrier.arrive_and_wait();
      if (rank == 0) disk.disarm();
      EXPECT_TRUE(outcome.error);
      EXPECT_LT(outcome.bytes, std::ssize(data));
      counted[static_cast<std::size_t>(rank)] = outcome.bytes;
      barrier.arrive_and_wait();
      // The file goes on working.
      EXPECT_FALSE(move(*file, Direction::read, data).error);
      Bytes again = job.data(rank);
      EXPECT_EQ(move(*file, Direction::write, again).bytes, std::ssize(again));
      EXPECT_TRUE(file->close());  // of the write that failed
    });
    for (int rank = 0; rank < job.ranks(); ++rank) {
      // Below the limit all is written by somebody; a rank counts what comes first.
      const ByteCount last = counted[static_cast<std::size_t>(rank)] - 1;
      EXPECT_LT((last / kPiece * job.ranks() + rank) * kPiece + last % kPiece, 5 * kWindow + 100);
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// Bytes that another node wrote are on the disk when a rank's sync returns, or it is told. A write
/// that is verified syncs, too.
TEST(NodesThatFail, TellAllThatASyncFailed) {
  const Job job{2, 2, 30};
  const Watchdog watchdog("NodesThatFail.TellAllThatASyncFailed", kCaseLimit);
  Disk disk(0);
  disk.arm({.operation = Operation::sync, .system_error = EIO, .rank = 3});
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, kExchanged);
    Bytes data = job.data(rank);
    const engine::Outcome written = move(*file, Direction::write, data);
    EXPECT_EQ(written.bytes, std::ssize(data));
    const ErrorClass expected = settings().verify ? ErrorClass::io : ErrorClass::success;
    EXPECT_EQ(written.error.error_class, expected)
        << "rank " << rank << ": " << written.error.message;
    const Error told = file->sync();
    EXPECT_EQ(told.error_class, ErrorClass::io) << "rank " << rank << ": " << told.message;
    // Where the writes failed, each rank is told of the others'.
    EXPECT_EQ(static_cast<bool>(file->close()), settings().verify);
  });
}

/// A limit of the process that happens to write is not one of the ranks whose bytes these are: only
/// rank `limited` may fail, and only by its own bytes. Returns whether it did.
bool only_the_limited_rank_fails(const Job& job, int limited, int system_error) {
  Disk disk(0);
  std::barrier barrier(job.ranks());
  std::atomic<bool> has_failed = false;
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, kExchanged);
    Bytes data = job.data(rank);
    Fault fault{.operation = Operation::write, .system_error = system_error, .rank = limited};
    fault.beyond = kWindow;
    if (rank == 0) disk.arm(fault);
    barrier.arrive_and_wait();
    const engine::Outcome outcome = move(*file, Direction::write, data);
    if (rank == limited) has_failed = static_cast<bool>(outcome.error);
    barrier.arrive_and_wait();
    if (rank == 0) disk.disarm();
    EXPECT_TRUE(rank == limited || !outcome.error) << outcome.error.message;
    EXPECT_EQ(static_cast<bool>(outcome.error), outcome.bytes < std::ssize(data));
    // Told of what failed elsewhere.
    EXPECT_EQ(static_cast<bool>(file->close()), has_failed && rank != limited);
  });
  const Bytes content = disk.content("file").value();
  for (FileOffset at = 0; at < job.bytes(); ++at) {
    if (has_failed && at / kPiece % job.ranks() == limited) continue;
    if (at < std::ssize(content) && content[static_cast<std::size_t>(at)] == Job::value(at))
      continue;
    ADD_FAILURE() << "byte " << at << " is not in the file";
    break;
  }
  return has_failed;
}

TEST(NodesThatFail, LetOwnersOfBytesTryThemselves) {
  for (const int system_error : {EFBIG, EDQUOT, EACCES, EPERM}) {
    SCOPED_TRACE(system_error);
    const Watchdog watchdog("NodesThatFail.LetOwnersOfBytesTryThemselves", kCaseLimit);
    // Alone on its node, it writes all that the node owns.
    EXPECT_TRUE(only_the_limited_rank_fails({3, 1, 60}, 1, system_error));
    // Else any rank of the node does; where the others come first each time, nothing fails.
    only_the_limited_rank_fails({3, 2, 30}, 2, system_error);
    if (testing::Test::HasFailure()) return;
  }
}

/// One node lacks the memory, one rank has wrong arguments, some have no data: nobody hangs.
TEST(NodesThatFail, WaitForNobodyWhoDoesNotCome) {
  const Job job{3, 2, 6};
  const Watchdog watchdog("NodesThatFail.WaitForNobodyWhoDoesNotCome", kCaseLimit);
  Disk disk(0);
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, kExchanged);
    for (int turn = 0; turn < 6; ++turn) {
      Bytes data = job.data(rank);
      const bool is_wrong = rank == turn;
      const bool is_idle = turn % 2 == 1 && rank / 2 == 1;
      if (is_idle) data.clear();
      engine::TransferCall call{Direction::write,   true, 0, data.data(), std::ssize(data),
                                view::make_basic(1)};
      if (is_wrong) call.count = -1;
      const engine::Outcome outcome = file->transfer(call);
      EXPECT_EQ(static_cast<bool>(outcome.error), is_wrong);
      EXPECT_EQ(outcome.bytes, is_wrong ? 0 : std::ssize(data));
    }
    EXPECT_FALSE(file->close());
  });
}

/// Calls that go on by themselves send no messages: each node by itself.
TEST(NodesInBackground, StayWithinTheirNode) {
  const Job job{2, 2, 10};
  const Watchdog watchdog("NodesInBackground.StayWithinTheirNode", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks());
  Meter meter(office, job.ranks());
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, kExchanged);
    Bytes data = job.data(rank);
    const Counted counted = meter.count(rank, [&] {
      const auto started = file->start(
          {Direction::write, true, 0, data.data(), std::ssize(data), view::make_basic(1)});
      ASSERT_TRUE(started);
      EXPECT_EQ(started.value()->wait().bytes, std::ssize(data));
    });
    EXPECT_EQ(counted.messages, 0);
    EXPECT_EQ(file->hints()["headrace_write_taken"], "staged");
    Bytes back(data.size());
    EXPECT_EQ(move(*file, Direction::read, back).bytes, std::ssize(data));
    EXPECT_EQ(back, data);
    EXPECT_FALSE(file->close());
  });
}

}  // namespace
}  // namespace headrace::sim
