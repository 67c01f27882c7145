#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::topo {

/// A grid of cells, as MPI_Cart_create has it: the last dimension's coordinate varies fastest.
struct Grid {
  std::vector<int> extents;    ///< at least 1 each
  std::vector<bool> periodic;  ///< as many
  int cell_count() const;
};

/// Which process takes each cell of a grid, and what that saves.
struct CellOrder {
  std::vector<int> process_of_cell;  ///< empty: each cell keeps the process with its number
  /// Neighbours on other nodes, summed over the cells: in this order, and if nothing changes.
  std::int64_t neighbours = 0;
  std::int64_t neighbours_before = 0;
};

/// The order in which the fewest neighbours of the grid are on other nodes, of those that are
/// tried: blocks (Gropp, Parallel Computing 85, 2019), and cuts and strips (Hunold and others,
/// arXiv 2005.09521). `node_of_process` has the node of each process, from 0 on, for as many
/// processes as there are cells. The same for the same arguments, on every process.
CellOrder order_grid(const Grid& grid, std::span<const int> node_of_process);

/// Neighbours on other nodes, summed over the cells, if each cell is on this node.
std::int64_t neighbours_on_other_nodes(const Grid& grid, std::span<const int> node_of_cell);

}  // namespace headrace::topo
