#include "topo/graph_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace headrace::topo {
namespace {

/// A graph from both ends of its edges.
class Symmetric {
 public:
  explicit Symmetric(const VertexGraph& graph) : starts_(graph.starts.size()) {
    const auto each_edge = [&graph](auto act) {
      for (std::size_t vertex = 0; vertex + 1 < graph.starts.size(); ++vertex) {
        for (auto edge = std::size_t(graph.starts[vertex]);
             edge < std::size_t(graph.starts[vertex + 1]); ++edge) {
          const auto other = static_cast<std::size_t>(graph.neighbours[edge]);
          if (other == vertex) continue;
          const int weight = graph.weights.empty() ? 1 : std::max(graph.weights[edge], 0);
          act(vertex, other, weight);
          act(other, vertex, weight);
        }
      }
    };
    each_edge([this](std::size_t from, std::size_t, int) { ++starts_[from + 1]; });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    edges_.resize(static_cast<std::size_t>(starts_.back()));
    std::vector<std::int64_t> next = starts_;
    each_edge([this, &next](std::size_t from, std::size_t to, int weight) {
      edges_[std::size_t(next[from]++)] = {int(to), weight};
    });
  }

  struct Edge {
    int to;
    int weight;
  };
  std::span<const Edge> of(int vertex) const {
    const auto begin = std::size_t(starts_[std::size_t(vertex)]);
    return std::span(edges_).subspan(begin, std::size_t(starts_[std::size_t(vertex) + 1]) - begin);
  }
  int size() const { return static_cast<int>(starts_.size()) - 1; }

 private:
  std::vector<std::int64_t> starts_;
  std::vector<Edge> edges_;
};

std::int64_t weight_between(const Symmetric& graph, std::span<const int> node_of_vertex) {
  std::int64_t sum = 0;
  for (int vertex = 0; vertex < graph.size(); ++vertex) {
    for (const auto& [to, weight] : graph.of(vertex)) {
      const bool apart = node_of_vertex[std::size_t(vertex)] != node_of_vertex[std::size_t(to)];
      if (apart) sum += weight;
    }
  }
  return sum / 2;  // each edge was met from both ends
}

/// The vertices in the order in which nodes of these sizes take them.
std::vector<int> gathered(const Symmetric& graph, std::span<const int> sizes) {
  std::vector<int> order;
  order.reserve(std::size_t(graph.size()));
  std::vector<bool> taken(std::size_t(graph.size()));
  std::vector<std::int64_t> pull(std::size_t(graph.size()));
  std::vector<std::int64_t> all_pull(std::size_t(graph.size()));
  using Near = std::priority_queue<std::pair<std::int64_t, int>>;  // pull; the lower number first
  Near near_all;  // any node: a new one begins beside those that are full
  int first_free = 0;
  const auto nearest = [&taken](Near& near) {
    while (!near.empty()) {
      const int next = -near.top().second;
      near.pop();
      if (!taken[std::size_t(next)]) return next;
    }
    return -1;
  };
  for (const int size : sizes) {
    std::ranges::fill(pull, 0);
    Near near;
    for (int count = 0; count < size; ++count) {
      int vertex = nearest(near);
      if (vertex < 0) vertex = nearest(near_all);
      while (vertex < 0) {
        if (!taken[std::size_t(first_free)]) vertex = first_free;
        ++first_free;
      }
      taken[std::size_t(vertex)] = true;
      order.push_back(vertex);
      for (const auto& [to, weight] : graph.of(vertex)) {
        if (taken[std::size_t(to)]) continue;
        pull[std::size_t(to)] += weight;
        near.emplace(pull[std::size_t(to)], -to);
        all_pull[std::size_t(to)] += weight;
        near_all.emplace(all_pull[std::size_t(to)], -to);
      }
    }
  }
  return order;
}

}  // namespace

VertexOrder order_graph(const VertexGraph& graph, std::span<const int> node_of_process) {
  const Symmetric symmetric(graph);
  std::vector<int> processes(node_of_process.size());
  std::iota(processes.begin(), processes.end(), 0);
  const auto node_of = [&](int process) { return node_of_process[std::size_t(process)]; };
  std::ranges::stable_sort(processes, {}, node_of);
  std::vector<int> sizes;
  for (std::size_t place = 0; place < processes.size(); ++place) {
    const bool is_new = place == 0 || node_of(processes[place]) != node_of(processes[place - 1]);
    if (is_new) sizes.push_back(0);
    ++sizes.back();
  }
  const std::vector<int> order = gathered(symmetric, sizes);
  VertexOrder result;
  result.process_of_vertex.resize(order.size());
  std::vector<int> node_of_vertex(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    result.process_of_vertex[std::size_t(order[place])] = processes[place];
    node_of_vertex[std::size_t(order[place])] = node_of(processes[place]);
  }
  result.weight_before = weight_between(symmetric, node_of_process);
  result.weight = weight_between(symmetric, node_of_vertex);
  if (result.weight >= result.weight_before) {
    result.weight = result.weight_before;
    result.process_of_vertex.clear();
  }
  return result;
}

}  // namespace headrace::topo
