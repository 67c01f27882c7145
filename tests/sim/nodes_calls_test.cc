#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <span>
#include <thread>

#include "sim/allocations.h"
#include "sim/nodes_job.h"
#include "sim/watchdog.h"

// Calls between nodes: what they cost ranks that do not lead, and those that are begun and ended.

namespace headrace::sim {
namespace {

/// What a rank that does not lead does in a call, whatever the number of nodes.
struct OfOthers {
  std::int64_t allocations = 0;
  std::int64_t messages = 0;
  bool operator==(const OfOthers&) const = default;
};

OfOthers count_others(int nodes) {
  const Job job{nodes, 2, 8};
  const Watchdog watchdog("NodesAtScale.CostOthersThanLeadersTheSame", kCaseLimit);
  Disk disk(0);
  std::atomic<std::int64_t> most_allocations = 0;
  std::atomic<std::int64_t> messages = 0;
  run_ranks(job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    Bytes data = job.data(rank);
    for (int turn = 0; turn < 3; ++turn) {
      for (const Direction direction : {Direction::write, Direction::read}) {
        const std::int64_t before = allocations_of_thread();
        EXPECT_EQ(move(*file, direction, data).bytes, std::ssize(data));
        const std::int64_t mine = allocations_of_thread() - before;
        if (rank % 2 == 0 || turn == 0) continue;  // leaders, and what is needed once
        if (mine > most_allocations) most_allocations = mine;
      }
    }
    const file::Hints hints = file->hints();
    EXPECT_EQ(hints.at("headrace_write_taken"), "exchanged");
    if (rank % 2 == 1 && hints.contains("headrace_messages_sent")) ++messages;
    EXPECT_FALSE(file->close());
  });
  return {most_allocations, messages};
}

TEST(NodesAtScale, CostOthersThanLeadersTheSame) {
  const OfOthers few = count_others(2);
  EXPECT_EQ(few.messages, 0);
  EXPECT_EQ(count_others(16), few);
}

/// How a collective call is made.
enum class Style { nonblocking, split };

ByteCount move_as(Style style, file::File& file, const file::TransferCall& call) {
  if (style == Style::split) {
    EXPECT_FALSE(file.begin(call));
    return file.end(call.direction, false, true).bytes;
  }
  const auto started = file.start(call);
  EXPECT_TRUE(started);
  return started ? started.value()->wait().bytes : -1;
}

ByteCount move_as(Style style, file::File& file, Direction direction, Bytes& data) {
  return move_as(style, file,
                 {direction, true, 0, data.data(), std::ssize(data), view::make_basic(1)});
}

struct Begun {
  Style style;
  bool serves_any_thread;
};
class NodesInBackground : public testing::TestWithParam<Begun> {};

/// Where only threads of the program may send, a nonblocking call stays on its node, and a split
/// one is done when it has begun. All others send what the plan says.
TEST_P(NodesInBackground, SendWhatTheyMay) {
  const Job job{2, 2, 10};
  const Watchdog watchdog("NodesInBackground.SendWhatTheyMay", kCaseLimit);
  const bool may_send = GetParam().style == Style::split || GetParam().serves_any_thread;
  Disk disk(0);
  PostOffice office(job.ranks(), GetParam().serves_any_thread);
  Meter meter(office, job.ranks());
  const plan::Traffic traffic = job.plan(Direction::write).traffic();
  const plan::Traffic of_reads = job.plan(Direction::read).traffic();
  const Job::Payload to_read = job.payload(Direction::read);
  const std::int64_t meeting = settings().verify ? 0 : plan::meeting_messages(job.nodes);
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    Bytes data = job.data(rank);
    const Counted written = meter.count(rank, [&] {
      EXPECT_EQ(move_as(GetParam().style, *file, Direction::write, data), std::ssize(data));
    });
    Bytes back(data.size());
    const Counted read = meter.count(rank, [&] {
      EXPECT_EQ(move_as(GetParam().style, *file, Direction::read, back), std::ssize(data));
    });
    EXPECT_EQ(back, data);
    EXPECT_EQ(file->hints()["headrace_write_taken"], may_send ? "exchanged" : "staged");
    if (rank == 0) {
      EXPECT_EQ(written.messages, may_send ? meeting + traffic.messages + traffic.pairs : 0);
      EXPECT_EQ(read.messages,
                may_send ? meeting + of_reads.messages + std::ssize(to_read.parts) : 0);
    }
    // Blocking calls afterwards, and all at once.
    EXPECT_EQ(move(*file, Direction::write, data).bytes, std::ssize(data));
    EXPECT_FALSE(file->close());
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, NodesInBackground,
                         testing::Values(Begun{Style::nonblocking, false},
                                         Begun{Style::nonblocking, true},
                                         Begun{Style::split, false}, Begun{Style::split, true}));

/// A started collective ends without any further call of any rank, also between nodes; many may be
/// under way, and a blocking one comes after them.
TEST(NodesInBackgroundMany, EndByThemselvesInOrder) {
  const Job job{3, 2, 8};
  const Watchdog watchdog("NodesInBackgroundMany.EndByThemselvesInOrder", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks(), true);
  std::barrier barrier(job.ranks());
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    std::vector<Bytes> data(5, Bytes(job.data(rank).size()));
    std::vector<std::shared_ptr<file::Operation>> begun;
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::ranges::fill(data[i], static_cast<std::uint8_t>(i + 1));
      begun.push_back(file->start({Direction::write, true, 0, data[i].data(), std::ssize(data[i]),
                                   view::make_basic(1)})
                          .value());
    }
    if (rank % 2 == 1) {
      while (!begun.back()->is_done()) std::this_thread::yield();
    }
    Bytes back(data[0].size());
    EXPECT_EQ(move(*file, Direction::read, back).bytes, std::ssize(back));
    EXPECT_EQ(back, data.back());
    for (const auto& operation : begun) EXPECT_EQ(operation->wait().bytes, std::ssize(back));
    EXPECT_FALSE(file->close());
  });
}

/// Data that is given so many bytes at a time.
class EvenParts : public file::Parts {
 public:
  EvenParts(Bytes& data, std::size_t size) : data_(data), size_(size) {}

  Result<std::int64_t> open() override {
    return static_cast<std::int64_t>((data_.size() + size_ - 1) / size_);
  }
  Result<std::span<std::byte>> next() override {
    const std::span<std::byte> left = std::as_writable_bytes(std::span(data_)).subspan(done_);
    return left.first(std::min(size_, left.size()));
  }
  void take(const file::Outcome& outcome) override {
    done_ += static_cast<std::size_t>(outcome.bytes);
  }
  void close() override {}

 private:
  Bytes& data_;
  std::size_t size_;
  std::size_t done_ = 0;
};

/// Nodes whose ranks need other numbers of parts make the same number of calls.
TEST_P(NodesInBackground, MakeAsManyPartsOnAllNodes) {
  const Job job{2, 2, 10};
  const Watchdog watchdog("NodesInBackground.MakeAsManyPartsOnAllNodes", kCaseLimit);
  Disk disk(0);
  PostOffice office(job.ranks(), GetParam().serves_any_thread);
  run_ranks(office, job.names(), disk, [&](int rank, const auto& team, storage::FileSystem& files) {
    const auto file = open(job, rank, team, files, hints_of(job));
    Bytes data = job.data(rank);
    Bytes back(data.size());
    for (const Direction direction : {Direction::write, Direction::read}) {
      EvenParts parts(direction == Direction::write ? data : back, rank < 2 ? 50'000 : 20'000);
      file::TransferCall call{direction, true, 0, nullptr, std::ssize(data), view::make_basic(1)};
      call.in_parts = true;
      call.parts = &parts;
      EXPECT_EQ(move_as(GetParam().style, *file, call), std::ssize(data));
    }
    EXPECT_EQ(back, data);
    EXPECT_FALSE(file->close());
  });
}

/// Where ranks meet within their node only, a node of one rank makes its calls by itself.
TEST(NodesOfUnevenSize, MakePartsEachByItself) {
  const Watchdog watchdog("NodesOfUnevenSize.MakePartsEachByItself", kCaseLimit);
  const std::vector<std::string> names{"a", "a", "b"};
  const Job job{1, 3, 10};
  for (const bool is_split : {false, true}) {
    for (const bool serves : {false, true}) {
      Disk disk(0);
      PostOffice office(3, serves);
      run_ranks(office, names, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
        file::Hints hints = kExchanged;
        hints["headrace_write_path"] = "staged";
        hints["headrace_read_path"] = "staged";
        const auto file = open(job, rank, team, files, hints);
        Bytes data = job.data(rank);
        Bytes back(data.size());
        for (const Direction direction : {Direction::write, Direction::read}) {
          EvenParts parts(direction == Direction::write ? data : back, rank < 1 ? 50'000 : 20'000);
          file::TransferCall call{direction,          true, 0, nullptr, std::ssize(data),
                                  view::make_basic(1)};
          call.in_parts = true;
          call.parts = &parts;
          const ByteCount bytes =
              is_split ? move_as(Style::split, *file, call) : file->transfer(call).bytes;
          EXPECT_EQ(bytes, std::ssize(data));
        }
        EXPECT_EQ(back, data);
        EXPECT_FALSE(file->close());
      });
    }
  }
}

}  // namespace
}  // namespace headrace::sim
