// The ranks of a communicator, as threads, on nodes that share memory: setting up, calls that are
// passed, calls of which ranks say different things, and data larger than a stage.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "fabric/milestones.h"
#include "topo/node.h"
#include "unit/collective_rank_threads.h"

namespace headrace::collective {
namespace {

/// As if it had been measured here with so many ranks.
Use here(Use use, int ranks) {
  use.nodes.is_crowded = ranks > topo::node_cores();
  return use;
}

const std::byte* as_bytes(const std::vector<std::int64_t>& numbers) {
  return reinterpret_cast<const std::byte*>(numbers.data());
}

TEST(Ranks, AddUpMoreThanAStageHolds) {
  constexpr std::size_t kNumbers = 100'000;
  run_ranks({"a", "a", "a"}, [](int rank, Ranks& ranks) {
    std::vector<std::int64_t> mine(kNumbers);
    std::iota(mine.begin(), mine.end(), rank);
    std::vector<std::int64_t> sum(kNumbers);
    ASSERT_LT(ranks.limits().stage, kNumbers * sizeof(std::int64_t));
    ASSERT_EQ(run(ranks, sum_call(kNumbers), mine.data(), sum.data()), Ranks::Outcome::done);
    for (std::size_t i = 0; i < kNumbers; ++i) {
      ASSERT_EQ(sum[i], 3 * static_cast<std::int64_t>(i) + 3);
    }
  });
}

/// What the root has said of a broadcast must stay until the others have read it, though it goes on
/// at once and passes many calls.
TEST(Ranks, FindWhatARootSaidThatIsManyCallsAhead) {
  constexpr std::int64_t kRounds = 3;
  constexpr std::uint64_t kPassed = 5 * fabric::kMilestoneNotes;
  run_ranks({"a", "a", "a"}, [](int rank, Ranks& ranks) {
    Call call;
    call.operation = Operation::bcast;
    call.bytes = sizeof(std::int64_t);
    for (std::int64_t round = 0; round < kRounds; ++round) {
      call.root = static_cast<int>(round);
      if (rank != call.root) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::int64_t sent = 100 + round;
      std::int64_t got = 0;
      ASSERT_EQ(run(ranks, call, &sent, &got), Ranks::Outcome::done);
      if (rank != call.root) {
        ASSERT_EQ(got, sent);
      }
      for (std::uint64_t i = 0; i < kPassed; ++i) ranks.pass(Operation::bcast);
    }
  });
}

/// Of three nodes one hands on what another sends, so it goes in parts, of which the last is
/// smaller.
TEST(Ranks, HandOnInParts) {
  constexpr std::size_t kNumbers = 20'001;
  run_ranks({"a", "b", "a", "c", "c"}, [](int rank, Ranks& ranks) {
    Call call = sum_call(kNumbers);
    for (int root = 0; root < 5; ++root) {
      call.root = root;
      std::vector<std::int64_t> mine(kNumbers);
      std::iota(mine.begin(), mine.end(), rank);
      std::vector<std::int64_t> sum(kNumbers);
      call.operation = Operation::reduce;
      ASSERT_EQ(ranks.prepare(call).part, 32U << 10);
      ASSERT_EQ(run(ranks, call, mine.data(), sum.data()), Ranks::Outcome::done);
      for (std::size_t i = 0; rank == root && i < kNumbers; ++i) {
        ASSERT_EQ(sum[i], 5 * static_cast<std::int64_t>(i) + 10);
      }
      call.operation = Operation::bcast;
      ASSERT_EQ(ranks.prepare(call).part, 32U << 10);
      std::vector<std::int64_t> got(kNumbers);
      ASSERT_EQ(run(ranks, call, mine.data(), got.data()), Ranks::Outcome::done);
      for (std::size_t i = 0; rank != root && i < kNumbers; ++i) {
        ASSERT_EQ(got[i], root + static_cast<std::int64_t>(i));
      }
    }
  });
}

TEST(Ranks, HandOnLargeDataInLargerParts) {
  run_ranks({"a", "a", "b", "c"}, [](int, Ranks& ranks) {
    Call call = sum_call(std::size_t{1} << 17);
    for (const Operation operation : {Operation::reduce, Operation::bcast}) {
      call.operation = operation;
      EXPECT_EQ(ranks.prepare(call).part, call.bytes / 16);
    }
  });
}

/// The root of a broadcast on one node does not wait for the others, whatever they expect. 70,000
/// numbers go in several parts, and in how many is the root's choice.
TEST(Ranks, TakeWhatTheRootOfABroadcastGives) {
  run_ranks({"a", "a", "a"}, [](int rank, Ranks& ranks) {
    for (const std::size_t given : {std::size_t{5}, std::size_t{4000}, std::size_t{70'000}}) {
      for (const std::size_t expected : {std::size_t{3}, std::size_t{4000}, std::size_t{90'000}}) {
        Call call = sum_call(rank == 1 ? given : expected);
        call.operation = Operation::bcast;
        call.root = 1;
        std::vector<std::int64_t> mine(given);
        std::iota(mine.begin(), mine.end(), static_cast<std::int64_t>(expected));
        std::vector<std::int64_t> got(expected, -1);
        ASSERT_NE(ranks.prepare(call).algorithm, nullptr);
        Ranks::Ending ending;
        const Ranks::Outcome outcome =
            ranks.run(call, {as_bytes(mine), reinterpret_cast<std::byte*>(got.data())}, {}, ending);
        if (rank == 1 || given == expected) {
          ASSERT_EQ(outcome, Ranks::Outcome::done);
        } else if (given > expected) {
          ASSERT_EQ(outcome, Ranks::Outcome::failed);
          ASSERT_EQ(ending.error.error_class, ErrorClass::truncated);
        } else {
          ASSERT_EQ(outcome, Ranks::Outcome::done);
          ASSERT_EQ(ending.received, given * sizeof(std::int64_t));
        }
        for (std::size_t i = 0; rank != 1 && i < expected; ++i) {
          ASSERT_EQ(got[i], i < given ? static_cast<std::int64_t>(expected + i) : -1);
        }
        std::int64_t sum = 0;
        const std::int64_t one = 1;
        ASSERT_EQ(run(ranks, sum_call(1), &one, &sum), Ranks::Outcome::done);
        ASSERT_EQ(sum, 3);
      }
    }
  });
}

/// Nobody hands anything on there.
TEST(Ranks, SendAllAtOnceBetweenTwoNodes) {
  run_ranks({"a", "a", "b"}, [](int, Ranks& ranks) {
    Call call = sum_call(20'001);
    for (const Operation operation : {Operation::reduce, Operation::bcast}) {
      call.operation = operation;
      EXPECT_EQ(ranks.prepare(call).part, call.bytes);
    }
  });
}

/// One rank leaves a call to the library, as for data on a device: all do, and the next call is
/// theirs again.
TEST(Ranks, PassWhereOnePasses) {
  run_ranks({"a", "a", "a"}, [](int rank, Ranks& ranks) {
    for (int turn = 0; turn < 30; ++turn) {
      const std::int64_t mine = rank + turn;
      std::int64_t sum = 0;
      if (turn % 3 == 1 && rank == turn % 2) {
        ranks.pass(Operation::allreduce);
      } else {
        const Ranks::Outcome outcome = run(ranks, sum_call(1), &mine, &sum);
        ASSERT_EQ(outcome, turn % 3 == 1 ? Ranks::Outcome::differs : Ranks::Outcome::done);
        ASSERT_EQ(sum, turn % 3 == 1 ? 0 : 3 + 3 * turn);
      }
    }
  });
}

/// As for want of memory: the root waits for nobody, and all others learn of it.
TEST(Ranks, PassABroadcastWhereItsRootPasses) {
  run_ranks({"a", "a", "a"}, [](int rank, Ranks& ranks) {
    for (int turn = 0; turn < 30; ++turn) {
      Call call = sum_call(4);
      call.operation = Operation::bcast;
      call.root = turn % 3;
      std::int64_t data[4] = {};
      if (rank == call.root) {
        ranks.pass(Operation::bcast);
      } else {
        ASSERT_EQ(run(ranks, call, nullptr, data), Ranks::Outcome::differs);
      }
      const std::int64_t one = 1;
      std::int64_t sum = 0;
      ASSERT_EQ(run(ranks, sum_call(1), &one, &sum), Ranks::Outcome::done);
      ASSERT_EQ(sum, 3);
    }
  });
}

/// Nothing is said of operations that are never carried out here: it would cost each call. So ranks
/// still agree if one of them has left more of these to the library.
TEST(Ranks, PassWithoutAWordWhatIsNeverTheirs) {
  const std::array<Use, 2> uses = {
      here({Library::mpich, Operation::allreduce, kOneNode, 8, 64, 1.5}, 3),
      here({Library::intel, Operation::reduce, kOneNode, 8, 64, 1.5}, 3)};
  const auto body = [](int rank, Ranks& ranks) {
    for (int turn = 0; turn < 30; ++turn) {
      for (int i = 0; i < rank; ++i) ranks.pass(Operation::reduce);
      const std::int64_t mine = rank + turn;
      std::int64_t sum = 0;
      ASSERT_EQ(run(ranks, sum_call(1), &mine, &sum), Ranks::Outcome::done);
      ASSERT_EQ(sum, 3 + 3 * turn);
    }
  };
  run_ranks({"a", "a", "a"}, body, Measured{Library::mpich, uses});
}

TEST(Ranks, PassWhereTheySayDifferentThings) {
  run_ranks({"a", "a"}, [](int rank, Ranks& ranks) {
    const std::int64_t mine[2] = {1, 2};
    std::int64_t sum[2] = {0, 0};
    const auto numbers = static_cast<std::size_t>(rank + 1);
    ASSERT_EQ(run(ranks, sum_call(numbers), mine, sum), Ranks::Outcome::differs);
    ASSERT_EQ(sum[0], 0);
    ASSERT_EQ(run(ranks, sum_call(2), mine, sum), Ranks::Outcome::done);
    ASSERT_EQ(sum[1], 4);
  });
}

TEST(Ranks, LeaveToTheLibraryWhatItDoesAsWellBetweenNodes) {
  run_ranks({"a", "a", "b"}, [](int, Ranks& ranks) {
    EXPECT_EQ(ranks.prepare(sum_call(1)).algorithm, nullptr);
    EXPECT_NE(ranks.prepare(sum_call(1)).obstacle, nullptr);
  });
}

/// Also where there are algorithms for one node, whose reason would be another.
TEST(Ranks, SayWhyLargeGathersAreLeftToTheLibrary) {
  for (const std::vector<std::string>& nodes :
       {std::vector<std::string>{"a", "a"}, {"a", "a", "b"}}) {
    run_ranks(nodes, [](int, Ranks& ranks) {
      Call call;
      call.operation = Operation::gather;
      call.bytes = call.blocks.size = call.blocks.distance = std::size_t{1} << 20;
      EXPECT_STREQ(ranks.prepare(call).obstacle, "it is too large to gain from sharing a message");
    });
  }
}

/// Ranks are dealt round, so that places are not ranks.
TEST(Ranks, GatherFromNodes) {
  run_ranks({"a", "b", "a", "b", "b"}, [](int rank, Ranks& ranks) {
    EXPECT_FALSE(ranks.shape().is_in_order());
    const Call call = gather_call(1);
    for (int turn = 0; turn < 20; ++turn) {
      const std::int64_t mine = rank * 100 + turn;
      std::int64_t all[5] = {};
      ASSERT_EQ(run(ranks, call, &mine, all), Ranks::Outcome::done);
      for (int i = 0; i < 5; ++i) ASSERT_EQ(all[i], i * 100 + turn);
    }
  });
}

TEST(Ranks, AreNotMadeWhereOneRefuses) {
  sim::PostOffice office(3);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const Error refused = rank == 1 ? Error{ErrorClass::other, 0, "no"} : Error();
      if (Ranks::create(make_team(office, rank, "a"), std::nullopt, refused)) ++made;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 0);
}

/// As each rank has read it; how many ranks were made.
int made_with(const std::vector<std::vector<Use>>& tables) {
  const int count = static_cast<int>(tables.size());
  sim::PostOffice office(count);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      const Measured measured{Library::mpich, tables[static_cast<std::size_t>(rank)]};
      const auto ranks = Ranks::create(make_team(office, rank, "a"), measured);
      if (!ranks) return;
      ++made;
      const Ranks::Prepared& small = ranks.value()->prepare(sum_call(1));
      EXPECT_NE(small.algorithm, nullptr);
      EXPECT_EQ(small.use, tables[static_cast<std::size_t>(rank)].data());
      const Ranks::Prepared& large = ranks.value()->prepare(sum_call(100));
      EXPECT_EQ(large.algorithm, nullptr);
      EXPECT_STREQ(large.obstacle, "it was not measured to be slower");
    });
  }
  for (std::thread& thread : threads) thread.join();
  return made;
}

TEST(Ranks, AreMadeWhereAllHaveTheSameTable) {
  const Use use = here({Library::mpich, Operation::allreduce, kOneNode, 8, 64, 1.5}, 3);
  Use other = use;
  other.most = 65;
  EXPECT_EQ(made_with({{use}, {use}, {use}}), 3);
  EXPECT_EQ(made_with({{use}, {use, other}, {use}}), 0);
  EXPECT_EQ(made_with({{use}, {use}, {other}}), 0);
  other = use;
  other.nodes = {2, 2};
  EXPECT_EQ(made_with({{use}, {use, other}, {use}}), 0);
  other = use;
  other.nodes.is_crowded = !use.nodes.is_crowded;
  EXPECT_EQ(made_with({{use}, {use}, {other}}), 0);
}

}  // namespace
}  // namespace headrace::collective
