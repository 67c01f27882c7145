#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdlib>

#include "sim/nodes_job.h"
#include "sim/watchdog.h"

// Collective calls that go between nodes: the bytes, the messages, and owners that fail.

namespace headrace::sim {
namespace {

class Nodes : public testing::TestWithParam<Job> {};

TEST_P(Nodes, SendWhatThePlanSaysAndNoMore) {
  const Job job = GetParam();
  const Watchdog watchdog("Nodes.SendWhatThePlanSaysAndNoMore", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks());
  Meter meter(office, job.ranks());
  const plan::Traffic traffic = job.plan(Direction::write).traffic();
  const std::int64_t meeting = plan::meeting_messages(job.nodes);
  const std::int64_t counted_meeting = settings().verify ? 0 : meeting;
  const Job::Payload payload = job.payload(Direction::write);
  const plan::Traffic of_reads = job.plan(Direction::read).traffic();
  const Job::Payload to_read = job.payload(Direction::read);
  std::atomic<std::int64_t> sent_messages = 0;
  std::atomic<std::int64_t> sent_bytes = 0;
  std::atomic<std::int64_t> told_messages = 0;
  std::atomic<std::int64_t> told_bytes = 0;
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
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
      EXPECT_EQ(written.messages, counted_meeting + traffic.messages + traffic.pairs);
      EXPECT_LE(traffic.messages, job.nodes * (job.nodes - 1) * traffic.rounds);
      EXPECT_GE(written.bytes, payload.bytes);
      EXPECT_LE(written.bytes, payload.bytes + payload.bytes / 20);
      EXPECT_EQ(read.messages, counted_meeting + of_reads.messages + std::ssize(to_read.parts));
      EXPECT_LE(read.bytes, to_read.bytes + to_read.bytes / 20);
    }
    const file::Hints hints = file->hints();
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
                                         Job{3, 1, 50}, Job{7, 3, 12}, Job{2, 2, 1}, Job{1, 4, 20},
                                         Job{4, 2, 40, true, 2}, Job{2, 4, 40, true, 4},
                                         Job{2, 4, 40, false, 3}, Job{5, 3, 30, true, 2}));

/// An owner that cannot write: who has bytes in that window or behind it is told, and what the
/// others count is in the file.
TEST(NodesThatFail, TellOfWhatIsNotWritten) {
  for (const int system_error : {EIO, ENOSPC, EFBIG, EDQUOT, EACCES, -EIO, -EFBIG}) {
    SCOPED_TRACE(system_error);
    const Job job{3, 2, 30, true, system_error < 0 ? 2 : 1};
    const Watchdog watchdog("NodesThatFail.TellOfWhatIsNotWritten", kCaseLimit);
    Disk disk(0);
    std::barrier barrier(job.ranks());
    std::vector<ByteCount> counted(static_cast<std::size_t>(job.ranks()));
    run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
      const auto file = open(job, rank, team, files, hints_of(job));
      Bytes data = job.data(rank);
      Fault fault{.operation = Operation::write, .system_error = std::abs(system_error)};
      fault.beyond = 5 * kWindow + 100;
      if (rank == 0) disk.arm(fault);
      barrier.arrive_and_wait();
      const file::Outcome outcome = move(*file, Direction::write, data);
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
    const file::Outcome written = move(*file, Direction::write, data);
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
    const auto file = open(job, rank, team, files, hints_of(job));
    Bytes data = job.data(rank);
    Fault fault{.operation = Operation::write, .system_error = system_error, .rank = limited};
    fault.beyond = kWindow;
    if (rank == 0) disk.arm(fault);
    barrier.arrive_and_wait();
    const file::Outcome outcome = move(*file, Direction::write, data);
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
    only_the_limited_rank_fails({3, 2, 30, true, 2}, 2, system_error);
    if (testing::Test::HasFailure()) return;
  }
}

/// One node lacks the memory, one rank has wrong arguments, some have no data: nobody hangs.
void wait_for_nobody_who_does_not_come(const Job& job) {
  const Watchdog watchdog("NodesThatFail.WaitForNobodyWhoDoesNotCome", kCaseLimit);
  Disk disk(0);
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    for (int turn = 0; turn < 6; ++turn) {
      Bytes data = job.data(rank);
      const bool is_wrong = rank == turn;
      const bool is_idle = turn % 2 == 1 && rank / 2 == 1;
      if (is_idle) data.clear();
      file::TransferCall call{Direction::write,   true, 0, data.data(), std::ssize(data),
                              view::make_basic(1)};
      if (is_wrong) call.count = -1;
      const file::Outcome outcome = file->transfer(call);
      EXPECT_EQ(static_cast<bool>(outcome.error), is_wrong);
      EXPECT_EQ(outcome.bytes, is_wrong ? 0 : std::ssize(data));
    }
    EXPECT_FALSE(file->close());
  });
}

TEST(NodesThatFail, WaitForNobodyWhoDoesNotCome) {
  wait_for_nobody_who_does_not_come({3, 2, 6});
  wait_for_nobody_who_does_not_come({3, 2, 6, true, 2});
}

}  // namespace
}  // namespace headrace::sim
