// Ranks that lack memory, one at a time, at each of their allocations in turn: none of the others
// waits for them for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "collective/ranks.h"
#include "sim/mailbox.h"
#include "unit/lacking.h"

namespace headrace::collective {
namespace {

using allocation::Lacking;
constexpr std::int64_t kPlenty = std::numeric_limits<std::int64_t>::max();

/// Mailboxes have memory.
class Messenger : public sim::MailboxMessenger {
 public:
  using MailboxMessenger::MailboxMessenger;
  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    const Lacking plenty(kPlenty);
    return MailboxMessenger::exchange(tag, to, outgoing, from, incoming);
  }
  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    const Lacking plenty(kPlenty);
    return MailboxMessenger::start_send(message, tag, to, outgoing);
  }
  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    const Lacking plenty(kPlenty);
    return MailboxMessenger::start_receive(message, tag, from, incoming);
  }
};

using Nodes = std::vector<std::string>;

template <class Body>
void on_all_ranks(sim::PostOffice& office, const Nodes& nodes, Body body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < office.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      auto team = fabric::Team::create(std::make_unique<Messenger>(office, rank),
                                       nodes[static_cast<std::size_t>(rank)], {});
      ASSERT_TRUE(team) << team.error().message;
      body(rank, std::move(team.value()));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// How many ranks were made where one got memory so many times only.
int made_where_one_lacks(const Nodes& nodes, int lacking, std::int64_t allocations) {
  sim::PostOffice office(static_cast<int>(nodes.size()));
  std::atomic<int> made = 0;
  on_all_ranks(office, nodes, [&](int rank, std::shared_ptr<fabric::Team> team) {
    const Lacking memory(rank == lacking ? allocations : kPlenty);
    // The text of an error may need memory, too.
    static_cast<void>(attempt([&]() -> Error {
      if (Ranks::create(std::move(team), std::nullopt)) ++made;
      return {};
    }));
  });
  return made;
}

TEST(RanksWithoutMemory, AreMadeByAllOrByNone) {
  for (const Nodes& nodes : {Nodes{"a", "a", "a"}, Nodes{"a", "b", "a", "c", "c"}}) {
    const int ranks = static_cast<int>(nodes.size());
    for (int lacking = 0; lacking < ranks; ++lacking) {
      int made = 0;
      std::int64_t allocations = 0;
      for (; made == 0 && allocations < 1000; ++allocations) {
        made = made_where_one_lacks(nodes, lacking, allocations);
        ASSERT_TRUE(made == 0 || made == ranks) << made << " of " << ranks;
      }
      EXPECT_EQ(made, ranks);
      EXPECT_GT(allocations, 5);
    }
  }
}

std::unique_ptr<Ranks> made_of(std::shared_ptr<fabric::Team> team) {
  auto made = Ranks::create(std::move(team), std::nullopt);
  return made ? std::move(made.value()) : nullptr;
}

Call broadcast(int root, std::size_t bytes) {
  Call call;
  call.operation = Operation::bcast;
  call.root = root;
  call.bytes = bytes;
  return call;
}

/// Three ranks count their calls alike.
void expect_sound_calls(Ranks& ranks, int rank) {
  Call gather;
  gather.operation = Operation::allgather;
  gather.bytes = gather.blocks.size = gather.blocks.distance = 1;
  for (int turn = 0; turn < 3; ++turn) {
    const auto mine = static_cast<std::byte>(rank + turn);
    std::array<std::byte, 3> all{};
    Ranks::Ending ending;
    ASSERT_NE(ranks.prepare(gather).algorithm, nullptr);
    ASSERT_EQ(ranks.run(gather, {&mine, all.data()}, {}, ending), Ranks::Outcome::done);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(all[i], static_cast<std::byte>(i + turn));
  }
}

constexpr std::size_t kSeveralParts = 4'000'000;

/// Rank 2 expects 1000 bytes of a root that gives others, and gets memory so many times only.
/// Whether that was enough.
bool follows_root(std::size_t given, std::int64_t allocations) {
  const Nodes nodes = {"a", "a", "a"};
  sim::PostOffice office(3);
  std::atomic<bool> follows = false;
  on_all_ranks(office, nodes, [&](int rank, std::shared_ptr<fabric::Team> team) {
    const auto ranks = made_of(std::move(team));
    ASSERT_NE(ranks, nullptr);
    const Call call = broadcast(0, rank == 2 ? 1000 : given);
    std::vector<std::byte> data(call.bytes, static_cast<std::byte>(rank == 0 ? 7 : 0));
    ASSERT_NE(ranks->prepare(call).algorithm, nullptr);
    Ranks::Ending ending;
    auto outcome = Ranks::Outcome::done;
    {
      const Lacking memory(rank == 2 ? allocations : kPlenty);
      outcome = ranks->run(call, {data.data(), data.data()}, {}, ending);
    }
    const bool lacks = ending.error.error_class == ErrorClass::no_memory;
    ASSERT_TRUE(rank == 2 || outcome == Ranks::Outcome::done);
    ASSERT_TRUE(!lacks || outcome == Ranks::Outcome::failed);
    if (rank == 2 && !lacks) {
      follows = true;
      ASSERT_EQ(data[std::min(given, call.bytes) - 1], std::byte{7});
    }
    expect_sound_calls(*ranks, rank);
  });
  return follows;
}

/// The root waits for nobody, and so has carried the call out.
TEST(RanksWithoutMemory, KeepCountOfTheCallsOfARootThatTheyCannotFollow) {
  for (const std::size_t given : {std::size_t{600}, kSeveralParts}) {
    std::int64_t allocations = 0;
    while (allocations < 100 && !follows_root(given, allocations)) ++allocations;
    EXPECT_LT(allocations, 100);
    EXPECT_GT(allocations, 1);  // its data, and then plans
  }
}

/// Before they say anything of the call, of which they may not know the bytes.
TEST(RanksWithoutMemory, GoByWhatTheRootOfABroadcastHasDone) {
  const Nodes nodes = {"a", "a", "a"};
  sim::PostOffice office(3);
  on_all_ranks(office, nodes, [&](int rank, std::shared_ptr<fabric::Team> team) {
    const auto ranks = made_of(std::move(team));
    ASSERT_NE(ranks, nullptr);
    for (const std::size_t bytes : {std::size_t{500}, kSeveralParts}) {
      for (int poor = 0; poor < 3; ++poor) {
        for (const bool root_passes : {false, true}) {
          const Call call = broadcast(1, bytes);
          const bool is_left = root_passes || poor == call.root;
          std::vector<std::byte> data(bytes, static_cast<std::byte>(rank == call.root ? 7 : 0));
          Ranks::Ending ending;
          if (rank == poor) {
            EXPECT_EQ(ranks->lack_memory(broadcast(call.root, 0)), is_left);
          } else if (rank == call.root && root_passes) {
            ranks->pass(call.operation);
          } else {
            ASSERT_NE(ranks->prepare(call).algorithm, nullptr);
            const auto outcome = ranks->run(call, {data.data(), data.data()}, {}, ending);
            EXPECT_EQ(outcome, is_left && rank != call.root ? Ranks::Outcome::differs
                                                            : Ranks::Outcome::done);
            EXPECT_EQ(data.back(), static_cast<std::byte>(is_left && rank != 1 ? 0 : 7));
          }
          expect_sound_calls(*ranks, rank);
        }
      }
    }
  });
}

/// Of a call in several parts, at each allocation that its plans need: before its first part.
TEST(RanksWithoutMemory, PlanAllPartsOfACallBeforeTheFirst) {
  const Nodes nodes = {"a", "a", "a"};
  for (std::int64_t allocations = 0, lacked = 1; lacked != 0; ++allocations) {
    ASSERT_LT(allocations, 100);
    sim::PostOffice office(3);
    std::atomic<int> lacking = 0;
    on_all_ranks(office, nodes, [&](int rank, std::shared_ptr<fabric::Team> team) {
      const auto ranks = made_of(std::move(team));
      ASSERT_NE(ranks, nullptr);
      Call call;
      call.operation = Operation::alltoall;
      call.bytes = call.blocks.size = call.blocks.distance = kSeveralParts;
      std::vector<std::byte> send(3 * kSeveralParts, static_cast<std::byte>(rank));
      std::vector<std::byte> receive(send.size());
      Ranks::Ending ending;
      auto outcome = Ranks::Outcome::done;
      const Error error = attempt([&]() -> Error {
        const Lacking memory(rank == 2 ? allocations : kPlenty);
        EXPECT_NE(ranks->prepare(call).algorithm, nullptr);
        const Lacking none(0);
        outcome = ranks->run(call, {send.data(), receive.data()}, {}, ending);
        return {};
      });
      if (error) {
        ++lacking;
        EXPECT_TRUE(ranks->lack_memory(call));
      }
      EXPECT_TRUE(error || outcome == Ranks::Outcome::done || outcome == Ranks::Outcome::differs);
      expect_sound_calls(*ranks, rank);
    });
    lacked = lacking;
  }
}

constexpr const char* kNotCopied = "a number cannot be copied";

/// Sends each rank a number and gets one from each, until memory lacks for that, or a copy fails.
class ShortParcels final : public Parcels {
 public:
  ShortParcels(std::span<std::int64_t> got, int lacking, bool is_thrown)
      : got_(got), lacking_(lacking), is_thrown_(is_thrown) {}

  std::size_t bytes_to(int) override { return sizeof(std::int64_t); }
  std::size_t bytes_from(int) override { return sizeof(std::int64_t); }
  void pack(int, std::byte* to) override { std::memcpy(to, &sent_, sizeof sent_); }
  void unpack(int rank, const std::byte* from, std::size_t) override {
    std::memcpy(&got_[static_cast<std::size_t>(rank)], from, sizeof(std::int64_t));
  }
  Outgoing to(int rank) override {
    Outgoing outgoing{{&sent_, sizeof sent_, nullptr}, nullptr};
    if (rank != lacking_) return outgoing;
    if (is_thrown_) throw std::bad_alloc();
    outgoing.failure = {ErrorClass::other, 0, kNotCopied};
    return outgoing;
  }
  fabric::TypedData from(int rank) override {
    return {&got_[static_cast<std::size_t>(rank)], sizeof(std::int64_t), nullptr};
  }

 private:
  std::int64_t sent_ = 7;
  std::span<std::int64_t> got_;
  int lacking_;
  bool is_thrown_;
};

/// Of a call in which each rank is a node, and rank 0 cannot give what it sends to the last one.
void expect_ended_messages(bool is_thrown) {
  const Nodes nodes = {"a", "b", "c", "d"};
  sim::PostOffice office(4);
  std::atomic<bool> has_failed = false;
  std::atomic<int> expected = 0;
  on_all_ranks(office, nodes, [&](int rank, std::shared_ptr<fabric::Team> team) {
    const auto ranks = made_of(std::move(team));
    ASSERT_NE(ranks, nullptr);
    Call call;
    call.operation = Operation::alltoallv;
    ASSERT_NE(ranks->prepare(call).algorithm, nullptr);
    // The others stay away, so that nothing comes of what rank 0 has begun to receive.
    if (rank == 0) {
      std::array<std::int64_t, 4> got{};
      ShortParcels parcels(got, 3, is_thrown);
      Ranks::Ending ending;
      const Error thrown = attempt([&]() -> Error {
        const auto outcome = ranks->run(call, {.parcels = &parcels}, {}, ending);
        has_failed = outcome == Ranks::Outcome::failed && ending.error.message == kNotCopied;
        return {};
      });
      if (thrown) has_failed = is_thrown;
      expected = static_cast<int>(office.expected());
    }
  });
  EXPECT_TRUE(has_failed);
  EXPECT_EQ(expected, 0);
}

TEST(RanksWithoutMemory, EndTheMessagesOfACallThatFails) {
  expect_ended_messages(true);
  expect_ended_messages(false);
}

}  // namespace
}  // namespace headrace::collective
