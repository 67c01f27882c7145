#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "record/communicator_ids.h"
#include "record/image_reader.h"
#include "record/message_counts.h"
#include "record/message_waits.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

using Needs = MessageWaits::Needs;
using Sending = MessageWaits::Sending;
using Way = MessageCounts::Way;

TEST(CommunicatorIds, AreTheSameOnAllRanksAndDifferForEachCommunicator) {
  const std::vector<std::int32_t> all{0, 1, 2};
  const std::vector<std::int32_t> some{2, 0};
  std::set<std::uint64_t> found{CommunicatorIds::world(all)};
  CommunicatorIds one;
  CommunicatorIds other;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t id = one.made(0, all);
    EXPECT_EQ(other.made(0, all), id);
    EXPECT_TRUE(found.insert(id).second);
    EXPECT_TRUE(found.insert(one.made(0, some)).second);  // the other rank is not in it
  }
  EXPECT_EQ(one.made(1, all), 0U);  // of another thread
}

TEST(MessageCounts, BothRanksGiveAMessageTheSameKey) {
  MessageCounts sender;
  MessageCounts receiver;
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 300; ++i) {
    for (const int tag : {0, 7}) {
      for (const std::uint64_t communicator : {11U, 13U}) {
        const std::uint64_t key = sender.next(Way::sent, 1, communicator, tag);
        EXPECT_EQ(receiver.next(Way::received, 0, communicator, tag), key);
        EXPECT_TRUE(keys.insert(key).second);
        sender.next(Way::received, 1, communicator, tag);  // is counted by itself
        sender.next(Way::sent, 2, communicator, tag);
      }
    }
  }
}

TEST(MessageCounts, SaysWhenThereIsNoRoom) {
  MessageCounts counts;
  std::uint64_t key = 1;
  for (int tag = 0; tag < 20'000 && key != 0; ++tag) key = counts.next(Way::sent, 1, 1, tag);
  EXPECT_EQ(key, 0U);
}

TEST(MessageLog, HasTheLatestMessages) {
  MessageLog log{};
  std::size_t place = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    log.add(i, static_cast<std::int64_t>(i) * 10);
    EXPECT_EQ(log.find(i, place), static_cast<std::int64_t>(i) * 10);
    if (i > MessageLog::kKept) {
      EXPECT_EQ(log.find(i - MessageLog::kKept + 1, place),
                static_cast<std::int64_t>(i - MessageLog::kKept + 1) * 10);
      EXPECT_FALSE(log.find(i - MessageLog::kKept, place));
    }
  }
}

constexpr std::uint64_t kWorld = 77;
constexpr std::int64_t kMs = 3'000'000;  // ticks

/// Two ranks of a node.
class Pair {
 public:
  Pair() {
    for (int i = 0; i < 2; ++i) {
      made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", i, 2));
      ranks.push_back(MessageWaits::make(*made_.back()->image, i));
      ranks.back()->know(kWorld, {0, 1});
      rows_.push_back(&made_.back()->call("MPI_Recv", CallClass::point_to_point,
                                          made_.back()->world(2), 8, 1'000));
    }
  }

  void send(int rank, std::int64_t begin, std::int64_t end, int tag = 0,
            Sending how = Sending::surely) {
    auto& own = *ranks[static_cast<std::size_t>(rank)];
    own.sent(0, kWorld, 1 - rank, tag, begin, how);
    this->end(rank, begin, end);
  }
  void receive(int rank, std::int64_t begin, std::int64_t end, int tag = 0) {
    ranks[static_cast<std::size_t>(rank)]->received(0, {kWorld, 1 - rank, tag}, begin, 0);
    this->end(rank, begin, end);
  }
  void end(int rank, std::int64_t begin, std::int64_t end, Needs needs = Needs::all) {
    const auto at = static_cast<std::size_t>(rank);
    ranks[at]->end_call(0, *rows_[at], begin, end, needs);
  }
  void finish() {
    for (const auto& one : ranks) one->finish();
  }

  /// Of a rank: calls, least, most.
  std::array<std::int64_t, 3> found(int rank) {
    std::array<std::int64_t, 3> sums{};
    const Image image = read(rank);
    for (const auto& [number, thread] : image.threads()) {
      for (const WaitItem& one : thread.waits) {
        sums[0] += one.calls;
        sums[1] += one.least;
        sums[2] += one.most;
      }
    }
    return sums;
  }
  std::int64_t ticks_for(int rank, Awaited kind) {
    std::int64_t sum = 0;
    const Image image = read(rank);
    for (const AwaitedItem& one : image.awaited()) sum += one.kind == kind ? one.ticks : 0;
    return sum;
  }
  Image read(int rank) {
    Result<Image> image = Image::read(made_[static_cast<std::size_t>(rank)]->image->path());
    EXPECT_TRUE(image);
    return std::move(image.value());
  }

  std::vector<std::unique_ptr<MessageWaits>> ranks;

 private:
  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  std::vector<Row*> rows_;
};

using Found = std::array<std::int64_t, 3>;

TEST(MessageWaits, AReceiverWaitsForALateSender) {
  Pair pair;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t begin = 10 * kMs * i;
    pair.send(0, begin + 4 * kMs, begin + 4 * kMs + 100);
    pair.receive(1, begin, begin + 5 * kMs);
  }
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{100, 400 * kMs, 400 * kMs}));
  EXPECT_EQ(pair.ticks_for(1, Awaited::sender), 400 * kMs);
  EXPECT_EQ(pair.read(1).header().matched, 100);
  EXPECT_EQ(pair.read(1).header().early, 0);
}

TEST(MessageWaits, ASenderWaitsForALateReceiverOnlyIfItIsStillThere) {
  Pair pair;
  pair.send(0, 0, 5 * kMs);
  pair.receive(1, 4 * kMs, 5 * kMs);
  pair.send(0, 10 * kMs, 11 * kMs);  // the library has stored it
  pair.receive(1, 20 * kMs, 21 * kMs);
  pair.finish();
  EXPECT_EQ(pair.found(0), (Found{2, 4 * kMs, 4 * kMs}));
  EXPECT_EQ(pair.ticks_for(0, Awaited::receiver), 4 * kMs);
  EXPECT_EQ(pair.found(1), (Found{2, 0, 0}));
  EXPECT_EQ(pair.read(1).header().early, 2);
}

/// Tags are received in another order than they were sent in.
TEST(MessageWaits, MessagesAreToldApartByTheirTags) {
  Pair pair;
  pair.send(0, 1 * kMs, 1 * kMs + 10, 1);
  pair.send(0, 8 * kMs, 8 * kMs + 10, 2);
  pair.receive(1, 0, 9 * kMs, 2);
  pair.receive(1, 9 * kMs, 10 * kMs, 1);
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{2, 8 * kMs, 8 * kMs}));
}

TEST(MessageWaits, ACallThatNeedsOneMessageWaitsForTheFirst) {
  Pair pair;
  pair.send(0, 2 * kMs, 2 * kMs + 10, 1);
  pair.send(0, 6 * kMs, 6 * kMs + 10, 2);
  {
    pair.ranks[1]->received(0, {kWorld, 0, 1}, 0, 0);
    pair.ranks[1]->received(0, {kWorld, 0, 2}, 0, 0);
    pair.end(1, 0, 9 * kMs, Needs::one);
  }
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{1, 2 * kMs, 2 * kMs}));
}

TEST(MessageWaits, WhatIsNotKnownMakesAnInterval) {
  Pair pair;
  pair.receive(1, 0, 5 * kMs);  // nobody has sent it, as far as is known
  pair.ranks[1]->received(0, {5, 0, 0}, 10 * kMs, 0);
  pair.end(1, 10 * kMs, 13 * kMs);
  pair.ranks[1]->note_unknown(0);
  pair.end(1, 20 * kMs, 22 * kMs);
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{3, 0, 10 * kMs}));
}

/// The library may have stored the message: then it is by chance that the receive was posted
/// meanwhile.
TEST(MessageWaits, AStandardSendMayHaveWaited) {
  Pair pair;
  pair.send(0, 0, 5 * kMs, 0, Sending::maybe);
  pair.receive(1, 4 * kMs, 6 * kMs);
  pair.finish();
  EXPECT_EQ(pair.found(0), (Found{1, 0, 4 * kMs}));
  EXPECT_EQ(pair.ticks_for(0, Awaited::receiver), 0);
}

/// Two receives that take the same messages are complete in another order than they were posted in.
TEST(MessageWaits, NobodyIsFollowedAfterReceivesThatCannotBeToldApart) {
  for (const int tag_of_first : {-1, 3, 4}) {
    Pair pair;
    pair.send(0, 0, 10, 3);
    pair.send(0, 0, 10, 3);
    auto& receiver = *pair.ranks[1];
    const std::uint64_t first = receiver.posted(0, {kWorld, 0, tag_of_first});
    const std::uint64_t second = receiver.posted(0, {kWorld, -1, 3});
    receiver.received(0, {kWorld, 0, 3}, 0, second);
    pair.end(1, 0, 5 * kMs);
    if (tag_of_first == 4) receiver.received(0, {kWorld, 0, 4}, 0, first);
    pair.finish();
    EXPECT_EQ(pair.found(1)[0], tag_of_first == 4 ? 1 : 0);
  }
}

TEST(MessageWaits, ReceivesThatAreCompleteInTheirOrderAreFollowed) {
  Pair pair;
  auto& receiver = *pair.ranks[1];
  for (std::int64_t i = 0; i < 3000; ++i) {
    pair.send(0, 10 * kMs * i, 10 * kMs * i + 10, 3);
    const std::uint64_t one = receiver.posted(0, {kWorld, -1, -1});
    receiver.received(0, {kWorld, 0, 3}, 10 * kMs * i, one);
    pair.end(1, 10 * kMs * i - kMs, 10 * kMs * i + kMs);
  }
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{3000, 3000 * kMs, 3000 * kMs}));
}

TEST(MessageWaits, NobodyIsFollowedAfterASecondThread) {
  Pair pair;
  pair.send(0, 0, 10);
  pair.ranks[1]->received(1, {kWorld, 0, 0}, 0, 0);
  pair.ranks[1]->received(0, {kWorld, 0, 0}, 0, 0);
  pair.end(1, 0, 5 * kMs);
  pair.finish();
  EXPECT_EQ(pair.found(1), (Found{}));
}

/// Hundreds of messages that nobody has received yet do not hold up what else is known.
TEST(MessageWaits, SendsThatNobodyReceivesAreGivenUp) {
  Pair pair;
  for (std::int64_t i = 0; i < 500; ++i) pair.send(0, kMs * i, kMs * i + 100'000);
  pair.finish();
  EXPECT_EQ(pair.found(0), (Found{500, 0, 500 * 100'000}));
}

}  // namespace
}  // namespace headrace::record
