// Subarrays and distributed arrays, dimension by dimension from the fastest index to the slowest,
// as MPI 4.1 defines them in sections 5.1.3 (subarray) and 5.1.4 (darray).

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "view/type.h"
#include "view/wide.h"

namespace headrace::view {
namespace {

/// The dimensions from the fastest index to the slowest.
std::vector<std::size_t> fastest_first(std::size_t dimensions, Order order) {
  std::vector<std::size_t> result(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    result[i] = order == Order::column_major ? i : dimensions - 1 - i;
  }
  return result;
}

/// Whether a whole array of old elements, and all offsets in it, fit in 62 bits.
bool array_fits(std::span<const std::int64_t> sizes, const Type& old) {
  Wide elements = 1;
  for (std::int64_t size : sizes) {
    elements *= std::max<std::int64_t>(size, 1);  // so that no partial product overflows either
    if (!fits(elements)) return false;
  }
  const Wide extent = elements * old.extent();
  return fits(elements * old.size()) && fits(extent) && fits(extent + old.true_lower_bound()) &&
         fits(extent + old.true_upper_bound());
}

/// `layout` with the bounds of a whole array.
TypePtr make_array_part(Layout layout, std::int64_t array_extent) {
  return std::make_shared<const Type>(
      std::move(layout), Bounds{.lower = 0, .upper = array_extent, .explicitly_set = true});
}

/// The block length of a distribution: MPI treats block and none as cyclic with one large block.
std::int64_t block_length(Distribution distribution, std::int64_t argument, std::int64_t size,
                          std::int64_t processes) {
  if (distribution == Distribution::none) return size;
  if (argument != kDefaultDistributionArgument) return argument;
  if (distribution == Distribution::cyclic) return 1;
  return divide_up(size, processes);
}

/// Every processes-th block of `block` elements among `size`, starting with block `process`.
Layout distribute(const Layout& element, std::int64_t extent, std::int64_t size, std::int64_t block,
                  std::int64_t process, std::int64_t processes) {
  if (size == 0 || block == 0) return {};
  const std::int64_t whole_blocks = size / block;
  const std::int64_t own_blocks =
      process < whole_blocks ? divide_up(whole_blocks - process, processes) : 0;
  std::vector<Layout> parts;
  if (own_blocks > 0) {
    // With a single block the stride is unused and might not fit.
    const std::int64_t stride = own_blocks > 1 ? processes * block * extent : 0;
    const Layout whole = repeat(element, block, extent);
    parts.push_back(repeat(whole, own_blocks, stride).moved(process * block * extent));
  }
  if (whole_blocks % processes == process) {
    const Layout rest = repeat(element, size % block, extent);
    parts.push_back(rest.moved(whole_blocks * block * extent));
  }
  return join(parts);
}

/// Coordinates of `rank` in a row-major grid.
std::vector<std::int64_t> grid_coordinates(std::int64_t rank, std::span<const std::int64_t> grid) {
  std::vector<std::int64_t> coordinates(grid.size());
  for (std::size_t i = grid.size(); i-- > 0;) {
    coordinates[i] = rank % grid[i];
    rank /= grid[i];
  }
  return coordinates;
}

}  // namespace

TypePtr make_subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                      std::span<const std::int64_t> starts, Order order, const TypePtr& old) {
  if (!old || !array_fits(sizes, *old)) return nullptr;
  Layout layout = old->layout();
  std::int64_t extent = old->extent();
  for (std::size_t d : fastest_first(sizes.size(), order)) {
    layout = repeat(layout, subsizes[d], extent).moved(starts[d] * extent);
    extent *= sizes[d];
  }
  return make_array_part(std::move(layout), extent);
}

TypePtr make_darray(std::int64_t rank, std::span<const std::int64_t> gsizes,
                    std::span<const Distribution> distribs, std::span<const std::int64_t> dargs,
                    std::span<const std::int64_t> psizes, Order order, const TypePtr& old) {
  if (!old || !array_fits(gsizes, *old)) return nullptr;
  const std::vector<std::int64_t> process = grid_coordinates(rank, psizes);
  Layout layout = old->layout();
  std::int64_t extent = old->extent();
  for (std::size_t d : fastest_first(gsizes.size(), order)) {
    const std::int64_t block = block_length(distribs[d], dargs[d], gsizes[d], psizes[d]);
    layout = distribute(layout, extent, gsizes[d], block, process[d], psizes[d]);
    extent *= gsizes[d];
  }
  return make_array_part(std::move(layout), extent);
}

}  // namespace headrace::view
