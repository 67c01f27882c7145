#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/collective_waits.h"
#include "record/communicator_ids.h"
#include "record/node_tables.h"
#include "record/wait_bounds.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kDay = std::int64_t{86'400} * 3'000'000'000;  // ticks

using Entries = std::vector<std::optional<Entry>>;

Entries entries_at(const std::vector<std::int64_t>& ticks) {
  Entries made;
  for (const std::int64_t one : ticks) made.emplace_back(Entry(one, 0, 0));
  return made;
}

MetCall call_of(Meeting meeting, int root, std::int64_t begin, std::int64_t end) {
  return {meeting, root, 2, begin, end};
}

TEST(Entry, KeepsWhatItIsMadeOf) {
  const Entry made(32'000, 1024 + 7, 3);
  EXPECT_TRUE(made.is_number(7));
  EXPECT_FALSE(made.is_number(8));
  EXPECT_TRUE(made.has_mark(3));
  EXPECT_FALSE(made.has_mark(4));
  EXPECT_EQ(made.ticks_after(32'000), 0);
  EXPECT_EQ(made.ticks_after(16'000), 16'000);
  EXPECT_EQ(made.ticks_after(48'000), -16'000);
}

/// Counters of processors run on for months.
TEST(Entry, TimesWrapAround) {
  for (std::int64_t days = 0; days < 400; ++days) {
    const std::int64_t begin = days * kDay + 5;
    EXPECT_NEAR(static_cast<double>(Entry(begin + 3'000'000, 0, 0).ticks_after(begin)), 3e6, 16);
    EXPECT_NEAR(static_cast<double>(Entry(begin, 0, 0).ticks_after(begin + 3'000'000)), -3e6, 16);
  }
}

/// Its memory may have been another communicator's.
TEST(EntryLog, BeginsWithoutCalls) {
  EntryLog log{};
  for (std::uint64_t i = 0; i < 300; ++i) log.add(Entry(160, i, 1));
  log.begin(5);
  log.calls.store(1);  // as a reader may see it, before the first entry is there
  EXPECT_FALSE(log.find(0));
  log.calls.store(0);
  log.add(Entry(320, 0, 1));
  EXPECT_EQ(log.find(0)->ticks_after(0), 320);
}

TEST(EntryLog, HasTheLatestCalls) {
  EntryLog log{};
  EXPECT_FALSE(log.find(0));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    log.add(Entry(static_cast<std::int64_t>(i) * 160, i, 1));
    for (const std::uint64_t back : {std::size_t{0}, std::size_t{1}, EntryLog::kKept - 1}) {
      if (back > i) continue;
      ASSERT_TRUE(log.find(i - back));
      EXPECT_EQ(log.find(i - back)->ticks_after(0), static_cast<std::int64_t>(i - back) * 160);
    }
    EXPECT_FALSE(log.find(i + 1));
    for (const std::uint64_t gone :
         {EntryLog::kKept, std::size_t{1024}}) {  // the second has the same bits
      if (gone <= i) {
        EXPECT_FALSE(log.find(i - gone));
      }
    }
  }
}

TEST(WaitBounds, AllWaitForTheLast) {
  const auto found =
      wait_of(call_of(Meeting::all, 0, 1600, 16'000), 0, entries_at({1600, 8000, 4800}), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->least, 6400);
  EXPECT_EQ(found->most, 6400);
  EXPECT_EQ(found->awaited, 1);
}

TEST(WaitBounds, TheLastDoesNotWait) {
  const auto found =
      wait_of(call_of(Meeting::all, 0, 9600, 16'000), 0, entries_at({9600, 8000, 4800}), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->least, 0);
  EXPECT_EQ(found->awaited, -1);
}

/// Who entered after the call had ended has given nothing to it.
TEST(WaitBounds, NobodyWaitsForWhoComesAfterTheEnd) {
  for (const Meeting meeting : {Meeting::all, Meeting::from_root}) {
    const auto found =
        wait_of(call_of(meeting, 1, 1600, 3200), 0, entries_at({1600, 160'000}), false);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->least, 0);
    EXPECT_EQ(found->most, 1600);
    EXPECT_EQ(found->awaited, -1);
  }
}

TEST(WaitBounds, OnlyTheRootIsNeededInABroadcast) {
  const Entries entries = entries_at({1600, 3200, 8000});
  const MetCall from_one = call_of(Meeting::from_root, 1, 1600, 16'000);
  const auto receiver = wait_of(from_one, 0, entries, false);
  EXPECT_EQ(receiver->least, 1600);
  EXPECT_EQ(receiver->most, 6400);
  EXPECT_EQ(receiver->awaited, 1);
  const auto root = wait_of(call_of(Meeting::from_root, 0, 1600, 16'000), 0, entries, false);
  EXPECT_EQ(root->least, 0);
  EXPECT_EQ(root->most, 6400);
}

TEST(WaitBounds, OnlyTheRootNeedsOthersInAReduction) {
  const Entries entries = entries_at({1600, 3200, 8000});
  EXPECT_EQ(wait_of(call_of(Meeting::to_root, 0, 1600, 16'000), 0, entries, false)->least, 6400);
  EXPECT_EQ(wait_of(call_of(Meeting::to_root, 1, 1600, 16'000), 0, entries, false)->least, 0);
}

TEST(WaitBounds, LowerRanksAreNeededInAScan) {
  const Entries entries = entries_at({4800, 1600, 8000});
  const MetCall call = call_of(Meeting::lower, 0, 1600, 16'000);
  EXPECT_EQ(wait_of(call, 1, entries, false)->least, 3200);
  EXPECT_EQ(wait_of(call, 1, entries, false)->most, 6400);
  const MetCall last = call_of(Meeting::lower, 0, 8000, 16'000);
  EXPECT_EQ(wait_of(last, 2, entries, false)->least, 0);
}

TEST(WaitBounds, WhatIsMissingIsNotGuessed) {
  Entries entries = entries_at({1600, 3200, 8000});
  entries[2] = std::nullopt;
  const MetCall all = call_of(Meeting::all, 0, 1600, 16'000);
  const MetCall from_one = call_of(Meeting::from_root, 1, 1600, 16'000);
  EXPECT_FALSE(wait_of(all, 0, entries, false));
  EXPECT_FALSE(wait_of(all, 0, entries, true));
  EXPECT_FALSE(wait_of(from_one, 0, entries, false));
  const auto found = wait_of(from_one, 0, entries, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->least, 1600);
  EXPECT_EQ(found->most, 14'400);
}

/// The ranks of one node, as threads would see them one after the other.
class Node {
 public:
  explicit Node(int ranks) {
    for (int i = 0; i < ranks; ++i) {
      made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", i, ranks));
      waits_.push_back(CollectiveWaits::make(*made_.back()->image));
      const std::uint32_t world = made_.back()->world(ranks);
      rows_.push_back(
          &made_.back()->call("MPI_Allreduce", CallClass::collective, world, 8, 1'000'000));
    }
  }

  CollectiveWaits& waits(int rank) { return *waits_[static_cast<std::size_t>(rank)]; }
  int open(int rank, const std::vector<std::int32_t>& members, int own) {
    return waits(rank).open(0, id_of(rank, members), members, own);
  }
  /// Each is another communicator.
  std::uint64_t id_of(int rank, const std::vector<std::int32_t>& members) {
    return ids_[rank].made(0, members);
  }
  void add(int rank, int log, const MetCall& call) {
    waits(rank).add(log, 0, call, *rows_[static_cast<std::size_t>(rank)]);
  }

  /// Of a rank: calls, ticks, least, most, in all.
  std::array<std::int64_t, 4> found(int rank) {
    std::array<std::int64_t, 4> sums{};
    const Image image = read(rank);
    for (const auto& [number, thread] : image.threads()) {
      for (const WaitItem& one : thread.waits) {
        sums[0] += one.calls;
        sums[1] += one.ticks;
        sums[2] += one.least;
        sums[3] += one.most;
      }
    }
    return sums;
  }
  std::int64_t ticks_for(int rank, int awaited) {
    std::int64_t sum = 0;
    const Image image = read(rank);
    for (const AwaitedItem& one : image.awaited()) {
      if (one.rank == awaited) sum += one.ticks;
    }
    return sum;
  }
  Image read(int rank) {
    MadeImage& made = *made_[static_cast<std::size_t>(rank)];
    Result<Image> image = Image::read(made.image->path());
    EXPECT_TRUE(image);
    return std::move(image.value());
  }

 private:
  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  std::vector<std::unique_ptr<CollectiveWaits>> waits_;
  std::vector<Row*> rows_;
  std::map<int, CommunicatorIds> ids_;
};

constexpr std::array<std::int64_t, 4> kNothing{};

TEST(CollectiveWaits, AddsUpWhatRanksWaited) {
  Node node(2);
  const std::vector<std::int32_t> world{0, 1};
  const int log[] = {node.open(0, world, 0), node.open(1, world, 1)};
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int64_t begin = i * 160'000;
    node.add(0, log[0], call_of(Meeting::all, 0, begin, begin + 96'000));
    node.add(1, log[1], call_of(Meeting::all, 0, begin + 80'000, begin + 96'000));
  }
  node.waits(0).finish();
  node.waits(1).finish();
  EXPECT_EQ(node.found(0),
            (std::array<std::int64_t, 4>{200, 200 * 96'000, 200 * 80'000, 200 * 80'000}));
  EXPECT_EQ(node.found(1), (std::array<std::int64_t, 4>{200, 200 * 16'000, 0, 0}));
  EXPECT_EQ(node.ticks_for(0, 1), 200 * 80'000);
  EXPECT_EQ(node.ticks_for(1, 0), 0);
}

/// A rank that runs ahead takes its old entries away; what is not known is not counted.
TEST(CollectiveWaits, CallsOfWhichEntriesAreGoneAreLeftOut) {
  Node node(2);
  const std::vector<std::int32_t> world{0, 1};
  const int log[] = {node.open(0, world, 0), node.open(1, world, 1)};
  const auto broadcast = [](std::int64_t begin) {
    return call_of(Meeting::from_root, 0, begin, begin + 16'000);
  };
  for (std::int64_t i = 0; i < 1000; ++i) node.add(0, log[0], broadcast(i * 16'000));
  for (std::int64_t i = 0; i < 1000; ++i) node.add(1, log[1], broadcast(20'000'000 + i * 16'000));
  node.waits(1).finish();
  const auto found = node.found(1);
  EXPECT_LE(found[0], static_cast<std::int64_t>(EntryLog::kKept));
  EXPECT_EQ(found[2], 0);
}

TEST(CollectiveWaits, RanksThatDoNotCallTheSameAreNotFollowed) {
  Node node(2);
  const std::vector<std::int32_t> world{0, 1};
  const int log[] = {node.open(0, world, 0), node.open(1, world, 1)};
  for (int i = 0; i < 40; ++i) {
    MetCall call = call_of(Meeting::all, 0, 16'000 * i, 16'000 * i + 8000);
    node.add(0, log[0], call);
    call.mark = 1;
    node.add(1, log[1], call);
  }
  node.waits(0).finish();
  EXPECT_EQ(node.found(0), kNothing);
}

TEST(CollectiveWaits, CommunicatorsOfTheSameRanksAreToldApart) {
  Node node(2);
  const std::vector<std::int32_t> world{0, 1};
  for (int which = 0; which < 2; ++which) {
    const int log[] = {node.open(0, world, 0), node.open(1, world, 1)};
    const std::int64_t late = which == 0 ? 1600 : 4800;
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::int64_t begin = (100 * which + i) * 16'000;
      node.add(0, log[0], call_of(Meeting::all, 0, begin, begin + 8000));
      node.add(1, log[1], call_of(Meeting::all, 0, begin + late, begin + 8000));
    }
    node.waits(0).close(log[0], 0);
    node.waits(1).close(log[1], 0);
  }
  node.waits(0).finish();
  node.waits(1).finish();
  EXPECT_EQ(node.found(0)[2], 20 * (1600 + 4800));
  EXPECT_EQ(node.found(1)[0], 40);
}

/// A member on another node has no image here.
TEST(CollectiveWaits, RanksOfOtherNodesAreNotWaitedFor) {
  Node node(1);
  const int log = node.open(0, {0, 1}, 0);
  for (std::int64_t i = 0; i < 3000; ++i) {
    node.add(0, log, call_of(Meeting::all, 0, i * 16'000, i * 16'000 + 8000));
  }
  node.waits(0).finish();
  EXPECT_EQ(node.found(0), kNothing);
}

TEST(CollectiveWaits, AnotherThreadEndsIt) {
  Node node(2);
  const int log = node.open(0, {0, 1}, 0);
  EXPECT_EQ(node.waits(0).open(1, 5, std::vector<std::int32_t>{1, 0}, 1), CollectiveWaits::kNoLog);
  node.waits(0).add(log, 1, call_of(Meeting::all, 0, 0, 16), node.read(0).threads().at(0).rows[0]);
  EXPECT_EQ(node.open(0, {0, 1}, 0), CollectiveWaits::kNoLog);
}

TEST(CollectiveWaits, ThereIsRoomForSoManyCommunicators) {
  Node node(2);
  std::vector<int> logs;
  for (std::size_t i = 0; i < EntryLogs::kMost; ++i) {
    logs.push_back(node.open(0, {0, 1}, 0));
    EXPECT_GE(logs.back(), 0);
  }
  EXPECT_EQ(node.open(0, {0, 1}, 0), CollectiveWaits::kNoLog);
  node.waits(0).close(logs[5], 0);
  EXPECT_EQ(node.open(0, {0, 1}, 0), logs[5]);
}

}  // namespace
}  // namespace headrace::record
