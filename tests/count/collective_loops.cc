#include <memory>
#include <string>
#include <vector>

#include "collective/algorithm.h"
#include "count/hot_loops.h"

namespace headrace::count {
namespace {

using collective::Call;
using collective::Operation;
using collective::Shape;

constexpr int kNodes = 1'024;
constexpr int kNodeRanks = 128;

/// Ranks in blocks, the last node one short: where all nodes are alike, fewer algorithms apply.
std::vector<int> begins_of_nodes() {
  std::vector<int> begins;
  for (int node = 0; node < kNodes; ++node) begins.push_back(node * kNodeRanks);
  begins.push_back(kNodes * kNodeRanks - 1);
  return begins;
}

Shape shape_of(const std::vector<int>& begins, int node_rank) {
  Shape shape;
  shape.node_index = kNodes / 2;
  shape.node_rank = node_rank;
  shape.rank = shape.node_index * kNodeRanks + node_rank;
  shape.size = begins.back();
  shape.node_size = shape.largest_node = kNodeRanks;
  shape.node_count = kNodes;
  shape.node_begins = begins;
  return shape;
}

/// Choosing and planning a call of a size that was not seen before.
HotLoop planning_loop(Operation operation, const std::string& who, int node_rank) {
  constexpr std::int64_t kCalls = 10;
  const auto begins = std::make_shared<const std::vector<int>>(begins_of_nodes());
  return {
      "plan_" + std::string(name_of(operation)) + "_131071_ranks_" + who, "call", kCalls, [=] {
        const Shape shape = shape_of(*begins, node_rank);
        const collective::Limits limits{.stage = std::size_t{4} << 20};
        Call call{.operation = operation, .bytes = 16, .element = 4};
        call.blocks = {16, 16, {}, {}};
        for (std::int64_t i = 0; i < kCalls; ++i) {
          collective::Schedule schedule;
          collective::choose(shape, call, limits).algorithm->plan(shape, call, limits, schedule);
          asm volatile("" : : "r"(schedule.steps.data()));
        }
      }};
}

}  // namespace

void add_collective_loops(std::vector<HotLoop>& loops) {
  for (const Operation operation :
       {Operation::allgather, Operation::bcast, Operation::reduce, Operation::alltoallv}) {
    loops.push_back(planning_loop(operation, "leader", 0));
    loops.push_back(planning_loop(operation, "other", 77));
  }
}

}  // namespace headrace::count
