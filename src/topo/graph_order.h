#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::topo {

/// Who talks to whom: the neighbours of vertex v are neighbours[starts[v]] to
/// neighbours[starts[v + 1] - 1], with as many weights, or none for equal ones.
struct VertexGraph {
  std::span<const std::int64_t> starts;  ///< one more than vertices
  std::span<const int> neighbours;
  std::span<const int> weights;
};

/// Which process takes each vertex, and what that saves.
struct VertexOrder {
  std::vector<int> process_of_vertex;  ///< empty: each vertex keeps the process with its number
  /// The weights of edges between nodes: in this order, and if nothing changes.
  std::int64_t weight = 0;
  std::int64_t weight_before = 0;
};

/// An order of a graph's vertices in which those that talk share nodes: each node in turn takes the
/// vertex that talks most to those that it has. `node_of_process` has the node of each process,
/// from 0 on. The same for the same arguments, on every process.
VertexOrder order_graph(const VertexGraph& graph, std::span<const int> node_of_process);

}  // namespace headrace::topo
