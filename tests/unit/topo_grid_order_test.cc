#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "topo/graph_order.h"
#include "topo/grid_order.h"

namespace headrace::topo {
namespace {

/// Nodes of these sizes, filled one after the other.
std::vector<int> filled(const std::vector<int>& sizes) {
  std::vector<int> nodes;
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    nodes.insert(nodes.end(), std::size_t(sizes[node]), int(node));
  }
  return nodes;
}

/// Each process has one cell, and the neighbours are those that were counted.
void check(const Grid& grid, const std::vector<int>& nodes, const CellOrder& order) {
  ASSERT_EQ(order.process_of_cell.size(), nodes.size());
  const std::set<int> processes(order.process_of_cell.begin(), order.process_of_cell.end());
  EXPECT_EQ(processes.size(), nodes.size());
  std::vector<int> node_of_cell;
  for (int process : order.process_of_cell) node_of_cell.push_back(nodes[std::size_t(process)]);
  EXPECT_EQ(neighbours_on_other_nodes(grid, node_of_cell), order.neighbours);
  EXPECT_LT(order.neighbours, order.neighbours_before);
}

TEST(GridOrder, PutsSquaresOnNodes) {
  const Grid grid{{4, 4}, {false, false}};
  const auto nodes = filled({4, 4, 4, 4});
  const CellOrder order = order_grid(grid, nodes);
  check(grid, nodes, order);
  EXPECT_EQ(order.neighbours_before, 2 * 12);
  EXPECT_EQ(order.neighbours, 2 * 8);
}

TEST(GridOrder, PutsCubesOnNodes) {
  const Grid grid{{16, 16, 16}, {true, true, true}};
  const auto nodes = filled(std::vector<int>(64, 64));
  const CellOrder order = order_grid(grid, nodes);
  check(grid, nodes, order);
  EXPECT_EQ(order.neighbours_before, 64 * 160);
  EXPECT_EQ(order.neighbours, 64 * 96);
}

TEST(GridOrder, TakesProcessesWhereverTheyAre) {
  const Grid grid{{8, 8}, {true, false}};
  std::vector<int> nodes = filled({16, 16, 16, 16});
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937(1));
  const CellOrder order = order_grid(grid, nodes);
  check(grid, nodes, order);
  EXPECT_EQ(order.neighbours, 2 * (2 * 8 + 8));
}

TEST(GridOrder, ServesNodesOfOtherSizes) {
  const Grid grid{{6, 7, 5}, {false, true, false}};
  const auto nodes = filled({50, 40, 60, 30, 30});
  check(grid, nodes, order_grid(grid, nodes));
}

TEST(GridOrder, LeavesWhatIsGood) {
  const Grid line{{16}, {false}};
  const CellOrder order = order_grid(line, filled({4, 4, 4, 4}));
  EXPECT_TRUE(order.process_of_cell.empty());
  EXPECT_EQ(order.neighbours, 6);
  EXPECT_TRUE(order_grid({{3, 3}, {true, true}}, filled({9})).process_of_cell.empty());
  EXPECT_TRUE(order_grid({{1}, {true}}, filled({1})).process_of_cell.empty());
}

TEST(GridOrder, AWrappedPairHasTwoNeighboursEach) {
  EXPECT_EQ(neighbours_on_other_nodes({{2}, {true}}, std::vector{0, 1}), 4);
  EXPECT_EQ(neighbours_on_other_nodes({{2}, {false}}, std::vector{0, 1}), 2);
}

/// Vertices in a ring whose numbers are scrambled.
TEST(GraphOrder, FindsARing) {
  constexpr int kSize = 24;
  std::vector<int> names(kSize);
  std::iota(names.begin(), names.end(), 0);
  std::shuffle(names.begin(), names.end(), std::mt19937(3));
  std::vector<std::int64_t> starts(kSize + 1);
  std::iota(starts.begin(), starts.end(), 0);
  std::vector<int> neighbours(kSize);
  for (std::size_t place = 0; place < kSize; ++place) {
    neighbours[std::size_t(names[place])] = names[(place + 1) % kSize];
  }
  const auto nodes = filled({6, 6, 6, 6});
  const VertexOrder order = order_graph({starts, neighbours, {}}, nodes);
  EXPECT_GT(order.weight_before, 10);
  EXPECT_EQ(order.weight, 4);
  const std::set<int> processes(order.process_of_vertex.begin(), order.process_of_vertex.end());
  EXPECT_EQ(processes.size(), std::size_t(kSize));
}

TEST(GraphOrder, WeightsDecide) {
  const std::vector<std::int64_t> starts = {0, 2, 3, 3, 3};
  const std::vector<int> neighbours = {3, 1, 2};
  const std::vector<int> weights = {1000, 1, 1000};
  const auto nodes = filled({2, 2});
  const VertexOrder order = order_graph({starts, neighbours, weights}, nodes);
  EXPECT_EQ(order.weight_before, 2000);
  EXPECT_EQ(order.weight, 1);
  ASSERT_EQ(order.process_of_vertex.size(), 4U);
  const auto node_of = [&](std::size_t v) {
    return nodes[std::size_t(order.process_of_vertex[v])];
  };
  EXPECT_EQ(node_of(0), node_of(3));
}

TEST(GraphOrder, LeavesWhatIsGood) {
  const std::vector<std::int64_t> starts = {0, 1, 1, 2, 2};
  const std::vector<int> neighbours = {1, 3};
  EXPECT_TRUE(order_graph({starts, neighbours, {}}, filled({2, 2})).process_of_vertex.empty());
}

}  // namespace
}  // namespace headrace::topo
