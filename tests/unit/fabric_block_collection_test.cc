#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fabric/block_collection.h"
#include "sim/mailbox.h"

namespace headrace::fabric {
namespace {

constexpr int kTag = 5;
constexpr Patience kLong{20'000};
constexpr Patience kShort{50};

std::string block_of(int rank) {
  // Nothing, less than a part, and several parts.
  const std::size_t size = rank % 3 == 0 ? 0 : rank % 3 == 1 ? 1000 : (std::size_t{9} << 20) + 1;
  std::string block(size, static_cast<char>('a' + rank));
  if (size > 0) block.back() = '.';
  return block;
}

TEST(BlockCollection, BringsEachBlockOnce) {
  constexpr int kRanks = 7;
  sim::PostOffice office(kRanks);
  std::vector<std::thread> ranks;
  std::vector<Error> results(kRanks);
  for (int rank = 1; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      sim::MailboxMessenger messenger(office, rank);
      results[static_cast<std::size_t>(rank)] = hand_block(messenger, kTag, block_of(rank), kLong);
    });
  }
  std::map<int, std::string> found;
  sim::MailboxMessenger messenger(office, 0);
  const std::vector<int> missing = collect_blocks(
      messenger, kTag, kLong,
      [&](int rank, std::string_view block) { EXPECT_TRUE(found.emplace(rank, block).second); });
  for (std::thread& each : ranks) each.join();
  EXPECT_TRUE(missing.empty());
  for (int rank = 1; rank < kRanks; ++rank) {
    EXPECT_EQ(found[rank], block_of(rank)) << rank;
    EXPECT_FALSE(results[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(office.expected(), 0);
}

TEST(BlockCollection, WaitsForNobodyForEver) {
  sim::PostOffice office(4);
  std::thread second([&] {
    sim::MailboxMessenger messenger(office, 2);
    EXPECT_FALSE(hand_block(messenger, kTag, "two", kLong));
  });
  // Rank 1 announces a block and is gone; rank 3 never comes.
  const std::uint64_t size = 100;
  office.send(1, 0, kTag, std::as_bytes(std::span(&size, 1)));
  sim::MailboxMessenger messenger(office, 0);
  std::vector<int> taken;
  const std::vector<int> missing = collect_blocks(
      messenger, kTag, kShort, [&](int rank, std::string_view) { taken.push_back(rank); });
  second.join();
  EXPECT_EQ(missing, (std::vector{1, 3}));
  EXPECT_EQ(taken, std::vector{2});
}

TEST(BlockCollection, TellsARankThatNobodyTakesItsBlock) {
  sim::PostOffice office(2);
  sim::MailboxMessenger messenger(office, 1);
  EXPECT_TRUE(hand_block(messenger, kTag, "one", kShort));
  EXPECT_EQ(office.expected(), 0);
}

TEST(BlockCollection, RefusesWhatCannotBe) {
  sim::PostOffice office(2);
  const std::uint64_t size = UINT64_MAX;
  office.send(1, 0, kTag, std::as_bytes(std::span(&size, 1)));
  sim::MailboxMessenger messenger(office, 0);
  const std::vector<int> missing =
      collect_blocks(messenger, kTag, kShort, [](int, std::string_view) { FAIL(); });
  EXPECT_EQ(missing, std::vector{1});
}

}  // namespace
}  // namespace headrace::fabric
