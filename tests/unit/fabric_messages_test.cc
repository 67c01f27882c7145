#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "fabric/messages.h"
#include "sim/mailbox.h"

namespace headrace::fabric {
namespace {

template <class Body>
void on_all_ranks(int ranks, Body body) {
  sim::PostOffice office(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&office, &body, rank] {
      sim::MailboxMessenger messenger(office, rank);
      body(messenger, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Messages : public testing::TestWithParam<int> {};

TEST_P(Messages, AllgatherGivesAllBlocksInRankOrder) {
  const int ranks = GetParam();
  on_all_ranks(ranks, [ranks](Messenger& messenger, int rank) {
    const std::int32_t mine[2] = {rank, rank * rank};
    const auto all = allgather(messenger, 5, std::as_bytes(std::span(mine)));
    ASSERT_TRUE(all);
    ASSERT_EQ(all.value().size(), static_cast<std::size_t>(ranks) * sizeof mine);
    for (int i = 0; i < ranks; ++i) {
      const std::int32_t expected[2] = {i, i * i};
      EXPECT_EQ(std::memcmp(all.value().data() + static_cast<std::size_t>(i) * sizeof mine,
                            expected, sizeof expected),
                0);
    }
  });
}

TEST_P(Messages, ReduceToAllMergesEveryMemberOnce) {
  const int ranks = GetParam();
  std::vector<int> members;  // every second rank, in an order of their own
  for (int rank = ranks - 1; rank >= 0; rank -= 2) members.push_back(rank);
  std::int64_t total = 0;
  for (const int member : members) total += std::int64_t{1} << member;
  on_all_ranks(ranks, [&](Messenger& messenger, int rank) {
    const auto place = std::ranges::find(members, rank);
    if (place == members.end()) return;
    std::int64_t value = std::int64_t{1} << rank;
    const auto add = [](std::span<std::byte> into, std::span<const std::byte> from) {
      std::int64_t a = 0;
      std::int64_t b = 0;
      std::memcpy(&a, into.data(), sizeof a);
      std::memcpy(&b, from.data(), sizeof b);
      a += b;
      std::memcpy(into.data(), &a, sizeof a);
    };
    const Error error =
        reduce_to_all(messenger, 3, members, static_cast<int>(place - members.begin()),
                      std::as_writable_bytes(std::span(&value, 1)), add);
    EXPECT_FALSE(error);
    EXPECT_EQ(value, total);
  });
}

TEST(MessagesInFlight, ASendIsDoneWhenItIsReceived) {
  sim::PostOffice office(3);
  sim::MailboxMessenger sender(office, 2);
  sim::MailboxMessenger receiver(office, 0);
  const std::int32_t sent = 7;
  const std::unique_ptr<Message> out = sender.make_message();
  ASSERT_FALSE(sender.start_send(*out, 4, 0, std::as_bytes(std::span(&sent, 1))));
  EXPECT_FALSE(out->is_done().value());
  EXPECT_FALSE(receiver.find(5, -1).value());
  EXPECT_FALSE(receiver.find(4, 1).value());
  for (const int from : {-1, 2}) {
    const std::optional<Arrival> arrival = receiver.find(4, from).value();
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->from, 2);
    EXPECT_EQ(arrival->size, sizeof sent);
  }
  std::int32_t received[2] = {0, 0};
  const std::unique_ptr<Message> in = receiver.make_message();
  ASSERT_FALSE(receiver.start_receive(*in, 4, 2, std::as_writable_bytes(std::span(received))));
  EXPECT_TRUE(in->is_done().value());
  EXPECT_TRUE(out->is_done().value());
  EXPECT_EQ(received[0], sent);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Messages, testing::Range(1, 18));

}  // namespace
}  // namespace headrace::fabric
