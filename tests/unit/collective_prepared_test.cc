// What the ranks of a communicator keep: plans of calls, and memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "unit/collective_rank_threads.h"

namespace headrace::collective {
namespace {

constexpr int kMark = 77;

/// The plan that is kept for the call; changed, so that it can be told from another one of the same
/// call.
void mark(Ranks& ranks, const Call& call) {
  const auto& steps = ranks.prepare(call).schedule.steps;
  ASSERT_FALSE(steps.empty());
  const_cast<Step&>(steps[0]).peer = kMark;
}
bool has_mark(Ranks& ranks, const Call& call) {
  return ranks.prepare(call).schedule.steps[0].peer == kMark;
}

/// Where blocks have sizes of their own, those of the call before may be as many bytes in all.
TEST(PreparedCalls, OfBlocksWithSizesOfTheirOwnAreKept) {
  run_ranks({"a", "a", "b"}, [](int, Ranks& ranks) {
    const std::vector<std::size_t> sizes = {8, 16, 24};
    const std::vector<std::size_t> others = {24, 16, 8};
    const std::vector<std::ptrdiff_t> offsets = {0, 100, 200};
    for (const Operation operation : {Operation::allgatherv, Operation::reduce_scatter}) {
      Call call{.operation = operation, .bytes = 48, .element = 8};
      call.blocks = {0, 0, sizes, offsets};
      mark(ranks, call);
      const std::vector<std::size_t> copy = sizes;
      const std::vector<std::ptrdiff_t> elsewhere = {200, 100, 0};
      Call again = call;
      again.blocks = {0, 0, copy, elsewhere};
      EXPECT_TRUE(has_mark(ranks, again));
      const std::uint64_t told = ranks.prepare(again).told;
      Call other = call;
      other.blocks = {0, 0, others, offsets};
      EXPECT_FALSE(has_mark(ranks, other));
      EXPECT_NE(ranks.prepare(other).told, told);
      EXPECT_FALSE(has_mark(ranks, call));
      EXPECT_EQ(ranks.prepare(call).told, told);
    }
  });
}

TEST(PreparedCalls, OfBothOperationsAreKeptBesideEachOther) {
  run_ranks({"a", "a", "a"}, [](int, Ranks& ranks) {
    const std::vector<std::size_t> sizes = {8, 16, 24};
    const std::vector<std::ptrdiff_t> offsets = {0, 8, 24};
    Call gather{.operation = Operation::allgatherv, .bytes = 48, .element = 8};
    gather.blocks = {0, 0, sizes, offsets};
    Call reduce = gather;
    reduce.operation = Operation::reduce_scatter;
    mark(ranks, gather);
    mark(ranks, reduce);
    EXPECT_TRUE(has_mark(ranks, gather));
    EXPECT_TRUE(has_mark(ranks, reduce));
  });
}

/// Only parcels go by messages then.
TEST(MemoryOfRanks, IsLittleWhereEachRankIsANode) {
  run_ranks({"a", "b", "c"}, [](int, Ranks& ranks) {
    EXPECT_LE(ranks.limits().stage, 32U << 10);
    EXPECT_NE(ranks.prepare({.operation = Operation::alltoallv}).algorithm, nullptr);
    EXPECT_STREQ(ranks.prepare(gather_call(1)).obstacle, "no two ranks share a node");
  });
}

/// How many ranks of three nodes take part if `use` was measured, and why others do not.
int made_with(const Use& use, std::string& reason) {
  std::atomic<int> made = 0;
  std::array<std::string, 3> reasons;
  make_ranks({"a", "b", "c"}, Measured{Library::mpich, {&use, 1}}, [&](int rank, auto ranks) {
    if (ranks) ++made;
    if (!ranks) reasons[static_cast<std::size_t>(rank)] = ranks.error().message;
  });
  reason = reasons[0];
  for (const std::string& one : reasons) EXPECT_EQ(one, reason);
  return made;
}

TEST(MemoryOfRanks, IsNotTakenWhereNothingCanBeGained) {
  Use use{Library::mpich, Operation::allgather, kSeveralNodes, 1, 64, 1.5};
  std::string reason;
  EXPECT_EQ(made_with(use, reason), 0);
  EXPECT_EQ(reason, "no two ranks share a node");
  use.operation = Operation::alltoallv;
  EXPECT_EQ(made_with(use, reason), 3);
  use.nodes = kOneNode;
  EXPECT_EQ(made_with(use, reason), 0);
  use.nodes = kSeveralNodes;
  use.library = Library::intel;
  EXPECT_EQ(made_with(use, reason), 0);
}

}  // namespace
}  // namespace headrace::collective
