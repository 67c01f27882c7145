#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "abi/flavour/node_numbers.h"
#include "abi/flavour/topology.h"
#include "base/message.h"
#include "base/result.h"
#include "topo/graph_order.h"

namespace headrace::HEADRACE_FLAVOUR::topology {
namespace {

/// The neighbours of some vertices: for each, first those that it receives from, then those that it
/// sends to.
struct Neighbours {
  std::vector<int> degrees;  ///< two for each vertex
  std::vector<int> vertices;
  std::vector<int> weights;  ///< empty if the graph has none
};

/// This rank's, as the library has them in a communicator that it made without reordering.
bool find_own(MPI_Comm graph, Neighbours& own, bool& is_weighted) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (native.Dist_graph_neighbors_count(graph, &in, &out, &weighted) != MPI_SUCCESS) return false;
  is_weighted = weighted != 0;
  own.degrees = {in, out};
  own.vertices.resize(std::size_t(in) + std::size_t(out));
  own.weights.resize(own.vertices.size());
  return native.Dist_graph_neighbors(graph, in, own.vertices.data(), own.weights.data(), out,
                                     own.vertices.data() + in,
                                     own.weights.data() + in) == MPI_SUCCESS;
}

/// Everybody's, on each rank.
class Gathering {
 public:
  Gathering(MPI_Comm communicator, int size) : communicator_(communicator), size_(size) {}

  /// Collective. False on all ranks where one lacks memory, or if it is too much.
  bool gather(const Neighbours& own, bool is_weighted) {
    const Error lacking = attempt([&]() -> Error {
      all_.degrees.resize(2 * std::size_t(size_));
      counts_.resize(std::size_t(size_));
      places_.resize(std::size_t(size_));
      starts_.resize(std::size_t(size_) + 1);
      return {};
    });
    if (!is_true_of_all(communicator_, !lacking)) return false;
    native.Allgather(own.degrees.data(), 2, MPI_INT, all_.degrees.data(), 2, MPI_INT,
                     communicator_);
    for (std::size_t vertex = 0; vertex < std::size_t(size_); ++vertex) {
      counts_[vertex] = all_.degrees[2 * vertex] + all_.degrees[2 * vertex + 1];
      starts_[vertex + 1] = starts_[vertex] + counts_[vertex];
    }
    if (starts_.back() > kMost) return false;
    for (std::size_t vertex = 0; vertex < std::size_t(size_); ++vertex) {
      places_[vertex] = static_cast<int>(starts_[vertex]);
    }
    const Error short_of_memory = attempt([&]() -> Error {
      all_.vertices.resize(std::size_t(starts_.back()));
      if (is_weighted) all_.weights.resize(all_.vertices.size());
      return {};
    });
    if (!is_true_of_all(communicator_, !short_of_memory)) return false;
    gather_one(own.vertices, all_.vertices);
    if (is_weighted) gather_one(own.weights, all_.weights);
    return true;
  }

  topo::VertexGraph graph() const { return {starts_, all_.vertices, all_.weights}; }

  /// Gives a vertex's part to `use`: the numbers of neighbours in and out, they, and weights, null
  /// if the graph has none.
  template <class Use>
  int with(int vertex, Use use) const {
    const auto at = static_cast<std::size_t>(vertex);
    const auto begin = static_cast<std::size_t>(starts_[at]);
    const int* const weights = all_.weights.empty() ? nullptr : all_.weights.data() + begin;
    return use(all_.degrees[2 * at], all_.degrees[2 * at + 1], all_.vertices.data() + begin,
               weights);
  }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 26;  ///< neighbours: 256 MiB

  void gather_one(const std::vector<int>& own, std::vector<int>& all) {
    native.Allgatherv(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(), counts_.data(),
                      places_.data(), MPI_INT, communicator_);
  }

  MPI_Comm communicator_;
  int size_;
  Neighbours all_;
  std::vector<int> counts_;
  std::vector<int> places_;
  std::vector<std::int64_t> starts_;
};

void tell(const topo::VertexOrder& order) {
  print_message_once(
      "MPI_Dist_graph_create gave ranks other numbers: the weight of edges between "
      "nodes is " +
      std::to_string(order.weight) + ", " + std::to_string(order.weight_before) + " without");
}

/// Collective over `comm_old`: the communicator of the graph whose ranks have the numbers in
/// `order`. `unweighted`: what the program gave for weights, if the graph has none.
int make_ordered(MPI_Comm comm_old, const topo::VertexOrder& order, const Gathering& all,
                 const int* unweighted, MPI_Info info, MPI_Comm* made) {
  int rank = 0;
  native.Comm_rank(comm_old, &rank);
  int vertex = 0;
  while (order.process_of_vertex[std::size_t(vertex)] != rank) ++vertex;
  MPI_Comm ordered = MPI_COMM_NULL;
  if (const int split = native.Comm_split(comm_old, 0, vertex, &ordered); split != MPI_SUCCESS) {
    return split;
  }
  const int code = all.with(vertex, [&](int in, int out, const int* with, const int* weights) {
    return native.Dist_graph_create_adjacent(
        ordered, in, with, weights == nullptr ? unweighted : weights, out, with + in,
        weights == nullptr ? unweighted : weights + in, info, 0, made);
  });
  native.Comm_free(&ordered);
  return code;
}

/// Collective over `plain`, which has the graph and the numbers of `comm_old`: makes `plain` the
/// communicator of an order that is better, where one is found.
int reorder(MPI_Comm comm_old, const int* unweighted, MPI_Info info, MPI_Comm* plain) {
  int size = 0;
  native.Comm_size(*plain, &size);
  const auto nodes = node_of_each_rank(*plain);
  Neighbours own;
  bool is_weighted = false;
  bool is_found = false;
  const Error lacking = attempt([&]() -> Error {
    is_found = find_own(*plain, own, is_weighted);
    return {};
  });
  if (!is_true_of_all(*plain, !lacking && is_found && nodes.has_value())) return MPI_SUCCESS;
  Gathering all(*plain, size);
  if (!all.gather(own, is_weighted)) return MPI_SUCCESS;
  topo::VertexOrder order;
  const Error short_of_memory = attempt([&]() -> Error {
    order = topo::order_graph(all.graph(), *nodes);
    return {};
  });
  const bool is_better = !short_of_memory && !order.process_of_vertex.empty();
  if (!is_true_of_all(*plain, is_better)) return MPI_SUCCESS;
  MPI_Comm made = MPI_COMM_NULL;
  const int code = make_ordered(comm_old, order, all, unweighted, info, &made);
  if (code != MPI_SUCCESS) return code;
  int rank = 0;
  native.Comm_rank(*plain, &rank);
  if (rank == 0) tell(order);
  native.Comm_free(plain);
  *plain = made;
  return MPI_SUCCESS;
}

}  // namespace

int Dist_graph_create(decltype(&PMPI_Dist_graph_create) next, MPI_Comm comm_old, int n,
                      const int sources[], const int degrees[], const int destinations[],
                      const int weights[], MPI_Info info, int wanted, MPI_Comm* comm_dist_graph) {
  if (!wanted || !may_be_reordered(comm_old)) {
    return next(comm_old, n, sources, degrees, destinations, weights, info, wanted,
                comm_dist_graph);
  }
  const int code =
      next(comm_old, n, sources, degrees, destinations, weights, info, 0, comm_dist_graph);
  return code != MPI_SUCCESS ? code : reorder(comm_old, weights, info, comm_dist_graph);
}

int Dist_graph_create_adjacent(decltype(&PMPI_Dist_graph_create_adjacent) next, MPI_Comm comm_old,
                               int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[],
                               MPI_Info info, int wanted, MPI_Comm* comm_dist_graph) {
  if (!wanted || !may_be_reordered(comm_old)) {
    return next(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights,
                info, wanted, comm_dist_graph);
  }
  const int code = next(comm_old, indegree, sources, sourceweights, outdegree, destinations,
                        destweights, info, 0, comm_dist_graph);
  return code != MPI_SUCCESS ? code : reorder(comm_old, sourceweights, info, comm_dist_graph);
}

}  // namespace headrace::HEADRACE_FLAVOUR::topology
