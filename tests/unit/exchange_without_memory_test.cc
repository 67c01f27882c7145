#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "base/rounding.h"
#include "base/settings.h"
#include "exchange/message_buffers.h"
#include "exchange/part_message.h"
#include "fabric/memory_pool.h"
#include "fabric/messages.h"
#include "plan/windows.h"
#include "sim/mailbox.h"
#include "storage/store.h"
#include "unit/lacking.h"
#include "view/cursor.h"

// What ranks do while others wait for them takes no memory; what cannot be without is refused
// before.

namespace headrace::exchange {
namespace {

constexpr int kSlots = 4;

using allocation::Lacking;

/// Mailboxes have memory.
class Messenger : public sim::MailboxMessenger {
 public:
  using MailboxMessenger::MailboxMessenger;
  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    const Lacking plenty(std::numeric_limits<std::int64_t>::max());
    return MailboxMessenger::exchange(tag, to, outgoing, from, incoming);
  }
};

template <class Body>
void on_all_ranks(int ranks, Body body) {
  sim::PostOffice office(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Messenger messenger(office, rank);
      body(messenger, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Leaders : public testing::TestWithParam<int> {};

TEST_P(Leaders, MeetAndAgreeWithoutMemory) {
  const int ranks = GetParam();
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  for (int unready = -1; unready < ranks; ++unready) {
    on_all_ranks(ranks, [&](Messenger& messenger, int rank) {
      std::vector<std::int64_t> scratch(members.size());
      std::vector<std::int64_t> all(members.size());
      const std::int64_t mine = 100 + rank;
      bool ready = false;
      Error failed;
      {
        const Lacking memory;
        failed = allgather(messenger, 1, members, rank, std::as_bytes(std::span(&mine, 1)),
                           std::as_writable_bytes(std::span(scratch)),
                           std::as_writable_bytes(std::span(all)));
        const Result<bool> told = is_true_everywhere(messenger, 1, members, rank, rank != unready);
        ready = told && told.value();
      }
      EXPECT_FALSE(failed);
      for (int i = 0; i < ranks; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 100 + i);
      EXPECT_EQ(ready, unready < 0);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Leaders, testing::Values(1, 2, 3, 5, 8));

TEST(WithoutMemory, BuffersAreRefusedAsAWholeAndMayBeHadLater) {
  constexpr ByteCount kWindow = 65536;
  constexpr int kNodes = 5;
  sim::PostOffice office(kNodes);
  Messenger messenger(office, 0);
  MessageBuffers buffers;
  ASSERT_GT(settings().node_memory, 0);  // read before memory lacks
  bool has_all = false;
  std::int64_t refused = 0;
  for (std::int64_t left = 0; !has_all; ++left) {
    const Lacking memory(left);
    has_all = buffers.reserve(messenger, kNodes, kWindow, kSlots, 1);
    refused += has_all ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
  const Lacking memory;
  EXPECT_TRUE(buffers.reserve(messenger, kNodes, kWindow, kSlots, 1));
  EXPECT_FALSE(buffers.reserve(messenger, kNodes, 2 * kWindow, kSlots, 1));
  for (int node = 0; node < kNodes; ++node) buffers.cleared_sources().push_back({});
  EXPECT_EQ(buffers.replies_out().size(), std::size_t{kNodes});
  for (const auto& reply : buffers.replies_in()) EXPECT_NE(reply.message, nullptr);
  for (const auto& buffer : buffers.requests()) EXPECT_NE(buffer.message, nullptr);
}

TEST(MessageBuffers, HoldNoMessagesThatCannotBeSent) {
  sim::PostOffice office(1);
  Messenger messenger(office, 0);
  MessageBuffers buffers;
  // Two stripes of nearly 1 GiB.
  EXPECT_FALSE(buffers.reserve_alike(messenger, 1, {(ByteCount{2} << 30) - 8192, kSlots, 1}));
}

TEST(WithoutMemory, PartsOfWindowsArePackedAndUnpacked) {
  constexpr ByteCount kWindow = 4096;
  sim::PostOffice office(2);
  Messenger messenger(office, 0);
  MessageBuffers buffers;
  ASSERT_TRUE(buffers.reserve(messenger, 2, kWindow, kSlots, 1));
  std::vector<std::byte> bytes(kWindow);
  std::vector<std::byte> copy(kWindow);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  std::vector<plan::Coverage::Word> marks(kWindow / 8);
  std::vector<plan::Coverage::Word> other_marks(kWindow / 8);
  bool is_part = false;
  {
    const Lacking memory;
    plan::Coverage covered(marks.data(), 0);
    for (ByteCount at = 3; at + 5 < kWindow; at += 11 + at % 4) {
      covered.mark_strided(at, 5, 0, 1);
    }
    const WindowMemory window{bytes.data(), 0, kWindow, 0};
    const std::span<std::byte> room = buffers.outgoing()[0].room;
    const std::size_t size = write_part(window, covered, room);
    plan::Coverage unpacked(other_marks.data(), 0);
    const Part part({copy.data(), 0, kWindow, 0}, room.first(size));
    is_part = part.is_part() && part.unpack(unpacked);
  }
  EXPECT_TRUE(is_part);
  for (ByteCount at = 3; at + 5 < kWindow; at += 11 + at % 4) {
    EXPECT_EQ(std::memcmp(bytes.data() + at, copy.data() + at, 5), 0);
  }
}

TEST(WithoutMemory, JoinedPartsAreSplit) {
  constexpr ByteCount kWindow = 4096;
  constexpr ByteCount kLengths[] = {5, 300};  // the first part's end is not aligned
  sim::PostOffice office(2);
  Messenger messenger(office, 0);
  MessageBuffers buffers;
  ASSERT_TRUE(buffers.reserve(messenger, 2, kWindow, kSlots, 1));
  ASSERT_TRUE(buffers.has_room_to_join());
  buffers.arrange(2);
  std::vector<std::byte> bytes(kWindow, std::byte{9});
  std::vector<plan::Coverage::Word> marks(kWindow / 8);
  const std::span<std::byte> room = buffers.outgoing()[0].room;
  ASSERT_GE(room.size(), 2 * part_room(kWindow));
  const Lacking memory;
  std::size_t end = 0;
  for (const ByteCount len : kLengths) {
    const std::size_t begin = round_up(end, kPartAlignment);
    plan::Coverage covered(marks.data(), 0);
    covered.mark_strided(0, len, 0, 1);
    end = begin + write_part({bytes.data(), 0, kWindow, 0}, covered, room.subspan(begin));
    covered.clear(kWindow);
  }
  std::span<const std::byte> parts = room.first(end);
  for (const ByteCount len : kLengths) {
    const Part part({bytes.data(), 0, kWindow, 0}, split_part(parts));
    EXPECT_TRUE(part.is_part());
    EXPECT_EQ(part.bytes(), len);
  }
  EXPECT_TRUE(parts.empty());
}

TEST(WithoutMemory, WindowsOfACallAreCut) {
  plan::Windows windows(3);
  const Lacking memory;
  for (int call = 1; call < 4; ++call) {
    const plan::RankRange ranges[] = {{50, 120, 70}, {950 * call, 960 * call, 10}, {0, 0, 0}};
    windows.set(ranges, 100);
    EXPECT_GE(windows.count(), 3);
  }
}

TEST(WithoutMemory, OneCursorGoesAheadAndBack) {
  // Deeper than a cursor's own room.
  view::TypePtr type = view::make_basic(1);
  for (int level = 0; level < 9; ++level) {
    type = view::make_resized(view::make_contiguous(2, type), 0, 3 * type->extent());
  }
  view::Cursor cursor(type, 0);
  const Lacking memory;
  for (ByteCount at = 0; at + 64 < type->size(); at += 64) {
    cursor.seek(at + 64);
    const std::int64_t ahead = cursor.peek();
    cursor.seek(at);
    EXPECT_LT(cursor.peek(), ahead);
  }
}

TEST(WithoutMemory, SlotsAreRefusedAndGivenBack) {
  fabric::MemoryPool pool(1 << 20);
  const auto first = pool.take(4096);
  const auto second = pool.take(4096);
  ASSERT_TRUE(first && second);
  {
    const Lacking memory;
    pool.give_back(*first, 4096);
    while (pool.take(4096)) {
    }
    pool.give_back(*second, 4096);
  }
  EXPECT_TRUE(pool.take(4096));
}

TEST(WithoutMemory, TheFileSystemIsThere) {
  const Lacking memory;
  EXPECT_NO_THROW(storage::posix_file_system());
}

}  // namespace
}  // namespace headrace::exchange
