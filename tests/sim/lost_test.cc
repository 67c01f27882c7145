#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/settings.h"
#include "file/file.h"
#include "sim/disk.h"
#include "sim/mailbox.h"
#include "sim/runner.h"
#include "sim/watchdog.h"

// A process is gone in the middle of a call in which nodes exchange: from some message on, the MPI
// library fails all messages of the communicator.

namespace headrace::sim {
namespace {

constexpr ByteCount kPiece = 1000;
constexpr std::int64_t kPieces = 200;
const std::vector<std::string> kNodes{"a", "a", "b", "b", "c", "c"};

/// Messages that are left until all fail.
using Left = std::atomic<std::int64_t>;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

class FailingMessenger : public MailboxMessenger {
 public:
  /// `let_go` counts messages that are destroyed while their buffers may still be used.
  FailingMessenger(PostOffice& office, int rank, Left& left, std::atomic<int>& let_go)
      : MailboxMessenger(office, rank), left_(left), let_go_(let_go) {}

  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    if (to >= 0) {
      if (--left_ < 0) return gone();
      if (Error error = MailboxMessenger::exchange(tag, to, outgoing, -1, {})) return error;
    }
    while (from >= 0) {
      if (left_ < 0) return gone();
      if (MailboxMessenger::find(tag, from).value()) {
        return MailboxMessenger::exchange(tag, -1, {}, from, incoming);
      }
      std::this_thread::yield();
    }
    return {};
  }
  std::unique_ptr<fabric::Message> make_message() override {
    return std::make_unique<Failing>(left_, let_go_);
  }
  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    if (--left_ < 0) return gone();
    return MailboxMessenger::start_send(message, tag, to, outgoing);
  }
  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    if (left_ < 0) return gone();
    return MailboxMessenger::start_receive(message, tag, from, incoming);
  }
  Result<std::optional<fabric::Arrival>> find(int tag, int from) override {
    if (left_ < 0) return gone();
    return MailboxMessenger::find(tag, from);
  }

 private:
  class Failing : public MailboxMessage {
   public:
    Failing(Left& left, std::atomic<int>& let_go) : left_(left), let_go_(let_go) {}
    ~Failing() override { let_go_ += is_on_its_way() ? 1 : 0; }
    Result<bool> is_done() override {
      if (left_ < 0) return gone();
      return MailboxMessage::is_done();
    }

   private:
    Left& left_;
    std::atomic<int>& let_go_;
  };

  static Error gone() { return {ErrorClass::other, 0, "a process is gone"}; }

  Left& left_;
  std::atomic<int>& let_go_;
};

/// What a rank writes at a place of the file.
std::uint8_t value(FileOffset at, int turn) {
  return static_cast<std::uint8_t>((at * 2654435761U + static_cast<unsigned>(turn) * 77) >> 13 | 1);
}

struct Rank {
  int number;
  std::unique_ptr<file::File> file;
  Bytes data = Bytes(kPiece * kPieces);
  Bytes* content;

  FileOffset place(ByteCount byte) const {
    return (byte / kPiece * std::ssize(kNodes) + number) * kPiece + byte % kPiece;
  }
  file::Outcome move(Direction direction, bool collective, bool has_data = true) {
    return file->transfer({direction, collective, 0, data.data(), has_data ? std::ssize(data) : 0,
                           view::make_basic(1)});
  }
};

void set_view(Rank& rank) {
  const view::TypePtr byte = view::make_basic(1);
  const view::TypePtr tile =
      view::make_resized(view::make_contiguous(kPiece, byte), 0, kPiece * std::ssize(kNodes));
  ASSERT_FALSE(rank.file->set_view(file::View{rank.number * kPiece, byte, tile}));
}

std::unique_ptr<file::File> open(const std::shared_ptr<exchange::FileTeam>& team,
                                 storage::FileSystem& files, int aggregators) {
  auto file = file::File::open(team, files, "file", {.read = true, .write = true, .create = true},
                               {{"headrace_write_path", "exchanged"},
                                {"headrace_read_path", "exchanged"},
                                {"cb_buffer_size", "65536"},
                                {"striping_unit", "65536"},
                                {"cb_nodes", std::to_string(aggregators)}});
  EXPECT_TRUE(file);
  return std::move(file.value());
}

/// What fails, and how many ranks of each of the three nodes lead.
struct Loss {
  Left& left;
  int leaders = 1;
  bool only_further = false;  ///< messages of first leaders never fail
};

/// Calls `body(rank)` on threads. Afterwards no message may come into memory that is gone.
template <class Body>
void on_all_ranks(Disk& disk, const Loss& loss, Body body) {
  Left never = kPlenty;
  PostOffice office(static_cast<int>(kNodes.size()));
  std::atomic<int> let_go = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < office.ranks(); ++number) {
    threads.emplace_back([&, number] {
      const std::unique_ptr<storage::FileSystem> files = disk.file_system(number);
      Left& left = loss.only_further && number % 2 == 0 ? never : loss.left;
      auto team = exchange::FileTeam::create(
          std::make_unique<FailingMessenger>(office, number, left, let_go),
          kNodes[static_cast<std::size_t>(number)]);
      Rank rank{number, open(team.value(), *files, 3 * loss.leaders), {}, {}};
      rank.data.resize(kPiece * kPieces);
      set_view(rank);
      body(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(office.expected(), 0);
  EXPECT_EQ(let_go, 0);
}

/// Writes and reads, of which messages fail from `moment` on. Whether any did.
bool lose(std::int64_t moment, int leaders) {
  Disk disk(0);
  Left left = kPlenty;
  std::barrier barrier(std::ssize(kNodes));
  std::atomic<bool> was_lost = false;
  on_all_ranks(disk, {left, leaders}, [&](Rank& rank) {
    barrier.arrive_and_wait();
    if (rank.number == 0) left = moment;
    barrier.arrive_and_wait();
    for (int turn = 0; turn < 2; ++turn) {
      for (ByteCount i = 0; i < std::ssize(rank.data); ++i) {
        rank.data[static_cast<std::size_t>(i)] = value(rank.place(i), turn);
      }
      const file::Outcome written = rank.move(Direction::write, true);
      EXPECT_TRUE(written.error || written.bytes == std::ssize(rank.data));
      barrier.arrive_and_wait();
      const Bytes now = disk.content("file").value();
      for (ByteCount i = 0; i < written.bytes; ++i) {
        const auto at = static_cast<std::size_t>(rank.place(i));
        ASSERT_TRUE(at < now.size() && now[at] == value(rank.place(i), turn)) << "byte " << i;
      }
      barrier.arrive_and_wait();
      Bytes kept(rank.data.size());
      kept.swap(rank.data);
      const file::Outcome read = rank.move(Direction::read, true);
      EXPECT_TRUE(read.error || read.bytes == std::ssize(rank.data) || left < 0);
      for (ByteCount i = 0; i < read.bytes; ++i) {
        const auto at = static_cast<std::size_t>(rank.place(i));
        ASSERT_EQ(rank.data[static_cast<std::size_t>(i)], now[at]) << "byte " << i;
      }
      barrier.arrive_and_wait();
    }
    was_lost = left < 0;
    // What needs no other node works.
    EXPECT_FALSE(rank.move(Direction::write, false).error);
    static_cast<void>(rank.file->sync());
    barrier.arrive_and_wait();
    const bool is_lost = left < 0;
    barrier.arrive_and_wait();
    const bool is_told = static_cast<bool>(rank.file->close());
    barrier.arrive_and_wait();
    // The first message that fails may be one of close.
    EXPECT_TRUE(is_told || !is_lost);
    EXPECT_TRUE(!is_told || left < 0);
  });
  return was_lost;
}

TEST(NodesThatAreLost, KeepNobodyWaiting) {
  for (const int leaders : {1, 2}) {
    const Watchdog watchdog("NodesThatAreLost.KeepNobodyWaiting", kCaseLimit);
    std::int64_t moment = 0;
    while (lose(moment, leaders) && !testing::Test::HasFailure()) moment += 1 + moment / 8;
    EXPECT_GT(moment, 20);
  }
}

/// A call of which messages of the nodes' second leaders fail from `moment` on, where they may end
/// after the first ones, and one more. Whether any did.
bool lose_second_leaders(std::int64_t moment, Direction direction) {
  Disk disk(0);
  disk.put("file", Bytes(std::size_t{kPiece} * 60 * kNodes.size()));
  Left left = kPlenty;
  std::barrier barrier(std::ssize(kNodes));
  std::atomic<bool> was_lost = false;
  on_all_ranks(disk, {left, 2, true}, [&](Rank& rank) {
    rank.data.resize(kPiece * 60);  // as many windows as have slots
    barrier.arrive_and_wait();
    if (rank.number == 0) left = moment;
    barrier.arrive_and_wait();
    const bool has_data = rank.number % 2 == 1;
    const file::Outcome first = rank.move(direction, true, has_data);
    EXPECT_TRUE(first.error || first.bytes == (has_data ? std::ssize(rank.data) : 0));
    barrier.arrive_and_wait();
    if (rank.number == 0) was_lost = left < 0;
    if (rank.number == 0 && !was_lost) left = kPlenty;
    barrier.arrive_and_wait();
    std::ranges::fill(rank.data, static_cast<std::uint8_t>(rank.number + 1));
    const file::Outcome second = rank.move(Direction::write, true);
    EXPECT_EQ(second.bytes, std::ssize(rank.data)) << second.error.message;
    static_cast<void>(rank.file->close());
  });
  const Bytes content = disk.content("file").value();
  for (std::size_t at = 0; at < content.size() && was_lost; ++at) {
    const std::size_t writer = at / kPiece % kNodes.size();
    EXPECT_EQ(content[at], writer + 1) << at;
    if (testing::Test::HasFailure()) break;
  }
  return was_lost;
}

TEST(NodesThatAreLost, LeaveNoSlotsThatAFirstLeaderKeeps) {
  if (settings().verify)
    GTEST_SKIP() << "ranks whose messages come wait for those that lost theirs";
  for (const Direction direction : {Direction::write, Direction::read}) {
    const Watchdog watchdog("NodesThatAreLost.LeaveNoSlotsThatAFirstLeaderKeeps", kCaseLimit);
    std::int64_t moment = 0;
    while (lose_second_leaders(moment, direction) && !testing::Test::HasFailure()) ++moment;
    EXPECT_GT(moment, 5);
  }
}

}  // namespace
}  // namespace headrace::sim
