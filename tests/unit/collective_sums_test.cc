// In which order schedules of reductions add up: by the shape and the root alone.
#include <gtest/gtest.h>

#include <cstring>

#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

/// Sums of doubles, of which the order of adding shows.
void add_doubles(const void*, const std::byte* from, std::byte* into, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(double)) {
    double a = 0;
    double b = 0;
    std::memcpy(&a, into + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a += b;
    std::memcpy(into + i, &a, sizeof a);
  }
}

double value_of(int rank) {
  return 1.0 / (3.0 + rank * rank);
}

double sum_of_node(const std::vector<int>& ranks) {
  double sum = value_of(ranks[0]);
  for (std::size_t i = 1; i < ranks.size(); ++i) sum += value_of(ranks[i]);
  return sum;
}

/// What a rank gets if all give their value `count` times.
double sum_at(const Algorithm& algorithm, const Nodes& nodes, int rank, std::size_t count) {
  std::mt19937 random(3);
  World world(nodes, std::size_t{1} << 20);
  std::vector<std::vector<RankCall>> calls;
  for (int one = 0; one < world.layout().size(); ++one) {
    RankCall own;
    const std::size_t bytes = count * sizeof(double);
    own.call = {.operation = algorithm.operation, .bytes = bytes, .element = sizeof(double)};
    own.call.blocks = {bytes, bytes, {}, {}};
    own.send.resize(bytes * static_cast<std::size_t>(world.layout().size()));
    for (std::size_t i = 0; i < own.send.size(); i += sizeof(double)) {
      const double given = value_of(one);
      std::memcpy(&own.send[i], &given, sizeof given);
    }
    own.receive.resize(bytes);
    calls.push_back({own});
  }
  world.run(calls, &algorithm, {&add_doubles, nullptr}, random);
  double result = 0;
  std::memcpy(&result, calls[static_cast<std::size_t>(rank)][0].receive.data(), sizeof result);
  return result;
}

TEST(OrderOfSums, AddInTheOrderOfRanksOnANodeAndThenOfNodes) {
  const Nodes one = in_blocks({5});
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}}) {
    for (const Algorithm* const algorithm :
         {&node_reduce, &node_reduce_scatter_block, &node_allreduce_shared}) {
      EXPECT_EQ(sum_at(*algorithm, one, 0, count), sum_of_node(one[0])) << algorithm->name;
    }
  }
  const Nodes four = dealt_round({3, 1, 2, 2});
  double expected = sum_of_node(four[0]);
  for (std::size_t node = 1; node < four.size(); ++node) expected += sum_of_node(four[node]);
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(sum_at(nodes_reduce_scatter_block, four, rank, 1), expected);
  }
}

TEST(OrderOfSums, AddToEachNodeThoseBelowItTheLargestSubtreeFirst) {
  const Nodes nodes = dealt_round({3, 1, 2, 2});
  const auto sum = [&](std::size_t node) { return sum_of_node(nodes[node]); };
  const double expected = sum(0) + (sum(2) + sum(3)) + sum(1);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}}) {
    EXPECT_EQ(sum_at(nodes_reduce, nodes, 0, count), expected);
  }
}

}  // namespace
}  // namespace headrace::collective
