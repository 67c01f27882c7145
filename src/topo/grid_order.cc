#include "topo/grid_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace headrace::topo {
namespace {

using Cells = std::vector<int>;

/// Cells in the order in which processes take them, the processes node by node.
class Orders {
 public:
  Orders(const Grid& grid, std::span<const int> node_of_process);

  CellOrder best();

 private:
  std::size_t dimensions() const { return grid_.extents.size(); }
  int coordinate(int cell, std::size_t axis) const {
    return cell / strides_[axis] % grid_.extents[axis];
  }

  void try_blocks();
  void try_block(const std::vector<int>& shape);
  void try_cuts();
  void cut(std::span<int> cells, std::span<const int> sizes);
  void try_strips();
  void try_strip(std::size_t along, const std::vector<int>& widths);
  /// Keeps an order if it is the best so far.
  void offer(const Cells& cells);
  Cells all_cells() const;

  const Grid& grid_;
  std::vector<int> strides_;
  std::vector<int> node_;       ///< of each process
  std::vector<int> processes_;  ///< node by node
  std::vector<int> sizes_;      ///< of each node
  CellOrder best_;
};

Orders::Orders(const Grid& grid, std::span<const int> node_of_process)
    : grid_(grid),
      strides_(grid.extents.size(), 1),
      node_(node_of_process.begin(), node_of_process.end()),
      processes_(node_of_process.size()) {
  for (std::size_t axis = dimensions(); axis-- > 1;) {
    strides_[axis - 1] = strides_[axis] * grid.extents[axis];
  }
  std::iota(processes_.begin(), processes_.end(), 0);
  std::ranges::stable_sort(processes_, {}, [this](int one) { return node_[std::size_t(one)]; });
  sizes_.resize(node_.empty() ? 0 : std::size_t(std::ranges::max(node_)) + 1);
  for (int node : node_) ++sizes_[std::size_t(node)];
  std::erase(sizes_, 0);
  best_.neighbours_before = neighbours_on_other_nodes(grid, node_);
  best_.neighbours = best_.neighbours_before;
}

CellOrder Orders::best() {
  if (sizes_.size() > 1) {
    try_blocks();
    try_cuts();
    try_strips();
  }
  return std::move(best_);
}

Cells Orders::all_cells() const {
  Cells cells(node_.size());
  std::iota(cells.begin(), cells.end(), 0);
  return cells;
}

void Orders::offer(const Cells& cells) {
  std::vector<int> process_of_cell(cells.size());
  std::vector<int> node_of_cell(cells.size());
  for (std::size_t place = 0; place < cells.size(); ++place) {
    const auto cell = static_cast<std::size_t>(cells[place]);
    process_of_cell[cell] = processes_[place];
    node_of_cell[cell] = node_[std::size_t(processes_[place])];
  }
  const std::int64_t neighbours = neighbours_on_other_nodes(grid_, node_of_cell);
  if (neighbours >= best_.neighbours) return;
  best_.neighbours = neighbours;
  best_.process_of_cell = std::move(process_of_cell);
}

/// Shapes of as many cells as a node has processes that tile the grid, the compactest few.
void Orders::try_blocks() {
  constexpr std::size_t kMost = 4;
  const int size = sizes_.front();
  if (std::ranges::any_of(sizes_, [size](int one) { return one != size; })) return;
  std::vector<std::vector<int>> shapes;
  std::vector<int> shape(dimensions(), 1);
  const std::function<void(std::size_t, int)> factor = [&](std::size_t axis, int rest) {
    if (axis == dimensions()) {
      if (rest == 1) shapes.push_back(shape);
      return;
    }
    for (int part = 1; part <= std::min(rest, grid_.extents[axis]); ++part) {
      if (rest % part != 0 || grid_.extents[axis] % part != 0) continue;
      shape[axis] = part;
      factor(axis + 1, rest / part);
    }
  };
  factor(0, size);
  const auto surface = [&](const std::vector<int>& one) {
    int sum = 0;
    for (std::size_t axis = 0; axis < dimensions(); ++axis) {
      if (one[axis] < grid_.extents[axis]) sum += size / one[axis];
    }
    return sum;
  };
  std::ranges::stable_sort(shapes, {}, surface);
  if (shapes.size() > kMost) shapes.resize(kMost);
  for (const auto& one : shapes) try_block(one);
}

void Orders::try_block(const std::vector<int>& shape) {
  Cells cells = all_cells();
  std::ranges::stable_sort(cells, {}, [&](int cell) {
    std::int64_t block = 0;
    for (std::size_t axis = 0; axis < dimensions(); ++axis) {
      block = block * grid_.extents[axis] + coordinate(cell, axis) / shape[axis];
    }
    return block;
  });
  offer(cells);
}

void Orders::try_cuts() {
  Cells cells = all_cells();
  cut(cells, sizes_);
  offer(cells);
}

/// Cuts the longest side such that whole nodes fit on either side, and so on.
void Orders::cut(std::span<int> cells, std::span<const int> sizes) {
  if (sizes.size() < 2) return;
  std::size_t longest = 0;
  int longest_extent = -1;
  for (std::size_t axis = 0; axis < dimensions(); ++axis) {
    const auto [low, high] =
        std::ranges::minmax(cells, {}, [&](int cell) { return coordinate(cell, axis); });
    const int extent = coordinate(high, axis) - coordinate(low, axis);
    if (extent > longest_extent) longest = axis;
    longest_extent = std::max(extent, longest_extent);
  }
  std::ranges::stable_sort(cells, {}, [&](int cell) { return coordinate(cell, longest); });
  const std::size_t middle = sizes.size() / 2;
  const auto at = static_cast<std::size_t>(
      std::accumulate(sizes.begin(), sizes.begin() + std::ptrdiff_t(middle), 0));
  cut(cells.first(at), sizes.first(middle));
  cut(cells.subspan(at), sizes.subspan(middle));
}

/// Strips along one dimension, about as wide in the others as a cube of a node's processes.
void Orders::try_strips() {
  const double side = std::pow(std::ranges::max(sizes_), 1.0 / double(dimensions()));
  constexpr std::array kScales = {0.75, 1.0, 1.3};
  for (std::size_t along = 0; along < dimensions(); ++along) {
    for (double scale : kScales) {
      std::vector<int> widths(dimensions());
      for (std::size_t axis = 0; axis < dimensions(); ++axis) {
        widths[axis] = std::clamp(int(std::lround(side * scale)), 1, grid_.extents[axis]);
      }
      try_strip(along, widths);
    }
  }
}

/// Strip by strip, each from one end to the other and the next one back.
void Orders::try_strip(std::size_t along, const std::vector<int>& widths) {
  Cells cells = all_cells();
  std::vector<std::int64_t> place(cells.size());
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    std::int64_t strip = 0;
    for (std::size_t axis = 0; axis < dimensions(); ++axis) {
      if (axis == along) continue;
      const int count = (grid_.extents[axis] + widths[axis] - 1) / widths[axis];
      const int number = coordinate(int(cell), axis) / widths[axis];
      strip = strip * count + (strip % 2 != 0 ? count - 1 - number : number);
    }
    const int step = coordinate(int(cell), along);
    const int extent = grid_.extents[along];
    place[cell] = strip * extent + (strip % 2 != 0 ? extent - 1 - step : step);
  }
  std::ranges::stable_sort(cells, {}, [&](int cell) { return place[std::size_t(cell)]; });
  offer(cells);
}

}  // namespace

int Grid::cell_count() const {
  return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
}

std::int64_t neighbours_on_other_nodes(const Grid& grid, std::span<const int> node_of_cell) {
  std::int64_t others = 0;
  int stride = static_cast<int>(node_of_cell.size());
  for (std::size_t axis = 0; axis < grid.extents.size(); ++axis) {
    const int extent = grid.extents[axis];
    stride /= extent;
    for (int cell = 0; cell < static_cast<int>(node_of_cell.size()); ++cell) {
      const bool is_last = cell / stride % extent == extent - 1;
      if (is_last && !grid.periodic[axis]) continue;
      const int next = is_last ? cell - (extent - 1) * stride : cell + stride;
      others += 2 * int{node_of_cell[std::size_t(cell)] != node_of_cell[std::size_t(next)]};
    }
  }
  return others;
}

CellOrder order_grid(const Grid& grid, std::span<const int> node_of_process) {
  return Orders(grid, node_of_process).best();
}

}  // namespace headrace::topo
