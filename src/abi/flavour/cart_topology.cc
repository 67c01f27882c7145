#include <cstdint>
#include <limits>
#include <vector>

#include "abi/flavour/node_numbers.h"
#include "abi/flavour/topology.h"
#include "base/message.h"
#include "base/result.h"
#include "topo/grid_order.h"

namespace headrace::HEADRACE_FLAVOUR::topology {
namespace {

/// As many cells as the grid has, 0 where the library is to say what is wrong with it.
int cells_of(int ndims, const int dims[], const int periods[], int ranks) {
  if (ndims < 1 || dims == nullptr || periods == nullptr) return 0;
  std::int64_t cells = 1;
  for (int axis = 0; axis < ndims; ++axis) {
    if (dims[axis] < 1) return 0;
    cells *= dims[axis];
    if (cells > ranks) return 0;
  }
  return static_cast<int>(cells);
}

/// This process's cell in an order; -1 for one that has none.
int cell_of(const std::vector<int>& process_of_cell, int process) {
  for (std::size_t cell = 0; cell < process_of_cell.size(); ++cell) {
    if (process_of_cell[cell] == process) return static_cast<int>(cell);
  }
  return -1;
}

void tell(const topo::CellOrder& order) {
  print_message_once("MPI_Cart_create gave ranks other numbers: " +
                     std::to_string(order.neighbours / 2) + " pairs of neighbours between nodes, " +
                     std::to_string(order.neighbours_before / 2) + " without");
}

}  // namespace

int Cart_create(decltype(&PMPI_Cart_create) next, MPI_Comm comm_old, int ndims, const int dims[],
                const int periods[], int reorder, MPI_Comm* comm_cart) {
  int ranks = 0;
  if (!reorder || !may_be_reordered(comm_old) ||
      native.Comm_size(comm_old, &ranks) != MPI_SUCCESS) {
    return next(comm_old, ndims, dims, periods, reorder, comm_cart);
  }
  const int cells = cells_of(ndims, dims, periods, ranks);
  if (cells < 2) return next(comm_old, ndims, dims, periods, reorder, comm_cart);

  auto nodes = node_of_each_rank(comm_old);
  topo::CellOrder order;
  const Error failed = attempt([&]() -> Error {
    if (!nodes) return {};
    nodes->resize(std::size_t(cells));  // the library, too, leaves the last ranks out
    topo::Grid grid{std::vector<int>(dims, dims + ndims),
                    std::vector<bool>(periods, periods + ndims)};
    order = topo::order_grid(grid, *nodes);
    return {};
  });
  const bool reorders = is_true_of_all(comm_old, !failed && !order.process_of_cell.empty());
  if (!reorders) return next(comm_old, ndims, dims, periods, reorder, comm_cart);

  int rank = 0;
  native.Comm_rank(comm_old, &rank);
  const int cell = cell_of(order.process_of_cell, rank);
  MPI_Comm ordered = MPI_COMM_NULL;
  const int split =
      native.Comm_split(comm_old, cell < 0 ? MPI_UNDEFINED : 0, cell < 0 ? 0 : cell, &ordered);
  if (split != MPI_SUCCESS) return split;
  if (cell < 0) {
    *comm_cart = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const int code = next(ordered, ndims, dims, periods, 0, comm_cart);
  native.Comm_free(&ordered);
  if (code == MPI_SUCCESS && rank == 0) tell(order);
  return code;
}

}  // namespace headrace::HEADRACE_FLAVOUR::topology
