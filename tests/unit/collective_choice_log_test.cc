// What is told of collective calls: the texts of choices, and when nothing is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/choice_log.h"
#include "record/image.h"
#include "unit/collective_world.h"
#include "unit/lacking.h"

namespace headrace::collective {
namespace {

constexpr Limits kRoomy{std::size_t{1} << 20};

Call call_of(Operation operation, std::size_t bytes) {
  Call call;
  call.operation = operation;
  call.bytes = bytes;
  call.blocks.size = call.blocks.distance = bytes;
  return call;
}

Shape shape_of(const Nodes& nodes, std::unique_ptr<Layout>& layout) {
  layout = std::make_unique<Layout>(nodes);
  return layout->shape_of(0);
}

TEST(ChoiceLog, SaysWhichCallsAndWhy) {
  Use use{Library::mpich, Operation::allgather, kOneNode, 1, 16384, 1.25};
  const auto told = decision_of(call_of(Operation::allgather, 300),
                                {.algorithm = &node_allgather, .use = &use}, 8, "others");
  EXPECT_EQ(told.subject, "allgather of 256 B to 4 KiB on 8 ranks");
  EXPECT_EQ(told.choice, node_allgather.name);
  EXPECT_EQ(told.reason, "measured to be at least 1.25 times as fast as the MPI library");
  EXPECT_EQ(told.alternatives, "others");
  use.nodes = {4, 2};
  EXPECT_EQ(decision_of(call_of(Operation::allgather, 300),
                        {.algorithm = &nodes_allgather_ring, .use = &use}, 8, "")
                .reason,
            "measured to be at least 1.25 times as fast as the MPI library on 4 nodes of 2 ranks");
}

TEST(ChoiceLog, SaysNoSizeOfBarriersNorWhereNoneIsKnown) {
  EXPECT_EQ(
      decision_of(call_of(Operation::barrier, 0), {.algorithm = &node_barrier}, 2, "").subject,
      "barrier on 2 ranks");
  const auto left = decision_of(call_of(Operation::bcast, 0),
                                {.reason = "HEADRACE_COLL_OFF names it", .has_size = false}, 1, "");
  EXPECT_EQ(left.subject, "bcast on 1 rank");
  EXPECT_EQ(left.choice, "the MPI library");
  EXPECT_EQ(left.reason, "HEADRACE_COLL_OFF names it");
}

TEST(ChoiceLog, HasATextForEachBinOfRecords) {
  std::vector<std::string> subjects;
  for (std::size_t bytes = 1; bytes < std::size_t{1} << 30; bytes *= 2) {
    subjects.push_back(
        decision_of(call_of(Operation::bcast, bytes), {.reason = "x"}, 2, "").subject);
  }
  const auto again = std::ranges::unique(subjects);
  EXPECT_EQ(again.begin() - subjects.begin(), record::kBins);
}

TEST(ChoiceLog, TellsWhatElseCouldBeDone) {
  std::unique_ptr<Layout> layout;
  const Shape several = shape_of(in_blocks({2, 2, 2}), layout);
  const Call call = call_of(Operation::allgather, 1024);
  // A ring of three nodes: two messages of two blocks each.
  EXPECT_EQ(alternatives_of(several, call, kRoomy, &nodes_allgather_bruck),
            "the MPI library; ring of nodes (4 KiB in 2 messages of each leader)");
  EXPECT_EQ(alternatives_of(several, call, kRoomy, nullptr).find("the MPI library"),
            std::string::npos);
  const Shape one = shape_of(in_blocks({4}), layout);
  EXPECT_EQ(alternatives_of(one, call, kRoomy, &node_allgather), "the MPI library");
  EXPECT_EQ(alternatives_of(one, call, kRoomy, nullptr), std::string(node_allgather.name));
}

TEST(ChoiceLog, PrintsWhyAWayWasTaken) {
  const Use use{Library::mpich, Operation::allgather, {1, 2}, 1, 16384, 1.25};
  const Call call = call_of(Operation::allgather, 300);
  EXPECT_EQ(line_of(call, {.algorithm = &node_allgather, .use = &use}, 2, nullptr),
            "allgather on 2 ranks, from 256 B: by shared (measured to be at least 1.25 times as "
            "fast as the MPI library with 2 ranks on one node)");
  EXPECT_EQ(line_of(call, {.algorithm = &node_allgather}, 2, nullptr),
            "allgather on 2 ranks, from 256 B: by shared (HEADRACE_COLL_USE=always)");
  EXPECT_EQ(line_of(call, {.reason = "of its size"}, 2, nullptr),
            "allgather on 2 ranks, from 256 B: by the MPI library (of its size)");
  EXPECT_EQ(line_of(call_of(Operation::gatherv, 0), {.algorithm = &node_gatherv}, 2, nullptr),
            "gatherv on 2 ranks: by slots (HEADRACE_COLL_USE=always)");
}

/// Allocations of an action.
template <class Action>
std::int64_t taken_by(Action action) {
  constexpr std::int64_t kMany = 1'000'000;
  const allocation::Lacking counting(kMany);
  action();
  return kMany - allocation::left;
}

TEST(ChoiceLog, MakesNoTextAgainWhereAnswersAlternate) {
  // All are of the power of 2 that is told.
  const Chosen shared{.algorithm = &node_allreduce_shared};
  const Chosen left{.reason = "it was not measured to be slower"};
  const Chosen large{.reason = "of its size"};
  ChoiceLog log(77, true);
  const auto note = [&](std::size_t bytes, const Chosen& chosen) {
    return taken_by([&] { log.note(call_of(Operation::allreduce, bytes), chosen, nullptr); });
  };
  EXPECT_GT(note(512, shared), 0);
  EXPECT_GT(note(520, left), 0);
  EXPECT_GT(note(1016, large), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(note(512, shared), 0);
    EXPECT_EQ(note(520, left), 0);
    EXPECT_EQ(note(1016, large), 0);
  }
  // Another power of 2 is told anew.
  EXPECT_GT(note(1024, large), 0);
}

TEST(ChoiceLog, KeepsNothingWhereNobodyAsks) {
  ChoiceLog log(2, false);
  EXPECT_FALSE(log.is_on());
  EXPECT_EQ(log.note(call_of(Operation::barrier, 0), {.algorithm = &node_barrier}, nullptr),
            nullptr);
}

}  // namespace
}  // namespace headrace::collective
