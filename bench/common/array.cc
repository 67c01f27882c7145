#include "common/array.h"

#include <algorithm>

#include "common/failure.h"

namespace headrace::bench {
namespace {

constexpr std::size_t most_axes = 6;

Extents parse_axes(const std::string& option, const std::string& text) {
  return parse_extents(option, text, 1, most_axes, "one to six numbers, the last axis fastest");
}

/// The array whose last axis has a column for each rank, an element of which is a piece.
Array pieces_array(const ArrayOptions& options, int ranks, std::int64_t default_size) {
  if (!options.dims.empty() || !options.grid.empty()) {
    throw AgreedFailure("--piece excludes --dims and --grid (it gives the array), drop one", 2);
  }
  const std::int64_t piece = options.piece.bytes;
  const std::int64_t size = options.size.bytes > 0
                                ? options.size.bytes
                                : std::max(default_size / piece, std::int64_t{1}) * piece;
  if (size % piece != 0) {
    throw AgreedFailure("--size " + std::to_string(size) + " is not a multiple of --piece " +
                            std::to_string(piece) + ", change one of them",
                        2);
  }
  return {{size / piece, ranks}, {1, ranks}, piece, options.ghost};
}

Array boxes_array(const ArrayOptions& options, int ranks, const std::string& default_dims) {
  if (options.size.bytes > 0) {
    throw AgreedFailure("--size needs --piece (--dims give the size), add it or drop --size", 2);
  }
  Array array{parse_axes("--dims", options.dims.empty() ? default_dims : options.dims),
              {},
              options.element.bytes,
              options.ghost};
  if (!options.grid.empty()) {
    array.grid = parse_axes("--grid", options.grid);
  } else {
    // The last axes are split first: that is where it costs.
    const Extents reversed(array.dims.rbegin(), array.dims.rend());
    array.grid = choose_grid(reversed, ranks, Extents(reversed.size(), 1));
    std::reverse(array.grid.begin(), array.grid.end());
  }
  check_grid("array", array.dims, array.grid, ranks);
  return array;
}

/// The runs of a box of `local` elements at `start` in an array of `dims`, in order.
Strips box_strips(const Extents& dims, const Extents& local, const Extents& start,
                  std::int64_t element) {
  const std::size_t count = dims.size();
  Extents step(count, element);
  for (std::size_t axis = count - 1; axis > 0; --axis) step[axis - 1] = step[axis] * dims[axis];
  std::int64_t first = 0;
  for (std::size_t axis = 0; axis < count; ++axis) first += start[axis] * step[axis];

  // Axes that are held in full join the run; the next one outwards makes the strip.
  std::size_t inner = count - 1;
  while (inner > 0 && local[inner] == dims[inner]) --inner;
  const std::int64_t length = local[inner] * step[inner];
  if (inner == 0) return {{first, length, 0, 1}};
  const std::size_t strip_axis = inner - 1;
  const Strip strip{first, length, step[strip_axis], local[strip_axis]};

  Strips strips;
  Extents place(strip_axis, 0);
  for (;;) {
    Strip next = strip;
    for (std::size_t axis = 0; axis < strip_axis; ++axis) next.offset += place[axis] * step[axis];
    strips.push_back(next);
    std::size_t axis = strip_axis;
    while (axis > 0 && ++place[axis - 1] == local[axis - 1]) place[--axis] = 0;
    if (axis == 0) return strips;
  }
}

Datatype subarray(const Extents& dims, const Extents& local, const Extents& start,
                  MPI_Datatype element) {
  const std::vector<int> sizes(dims.begin(), dims.end());
  const std::vector<int> subsizes(local.begin(), local.end());
  const std::vector<int> starts(start.begin(), start.end());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(dims.size()), sizes.data(), subsizes.data(),
                           starts.data(), MPI_ORDER_C, element, &type);
  return Datatype::commit(type);
}

}  // namespace

Extents Array::local() const {
  Extents result = dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) result[axis] /= grid[axis];
  return result;
}

std::int64_t Array::local_bytes() const {
  Extents factors = local();
  factors.push_back(element);
  return product(factors);
}

std::int64_t Array::bytes() const {
  return local_bytes() * product(grid);
}

std::int64_t Array::run_bytes() const {
  return box_strips(dims, local(), Extents(dims.size(), 0), element).front().length;
}

std::vector<std::pair<std::string, std::string>> Array::lines() const {
  const std::string ghosts =
      ghost > 0 ? ", " + std::to_string(ghost) + " ghost cells around it in memory" : "";
  return {{"array", text_of(dims, 'x') + " elements of " + format_size(element)},
          {"process grid", text_of(grid, 'x') + ", " + text_of(local(), 'x') + " each" + ghosts},
          {"pieces", format_size(run_bytes())}};
}

std::vector<Option> option_table(ArrayOptions& options) {
  return {
      {0, "dims", &options.dims, "extents of the array, 1 to 6 axes, the last one fastest"},
      {0, "element", &options.element, "bytes of an element", 1},
      {0, "grid", &options.grid, "process grid (chosen to divide the array)"},
      {0, "ghost", &options.ghost, "ghost cells around each rank's box in memory", 0},
      {0, "piece", &options.piece,
       "in place of these: ranks take turns in the file by pieces of so many bytes (an array of "
       "rows x ranks elements of this size)",
       1},
      {0, "size", &options.size, "with --piece: bytes of each rank", 1},
  };
}

Array make_array(const ArrayOptions& options, int ranks, const std::string& default_dims,
                 std::int64_t default_size) {
  const Array array = options.piece.bytes > 0 ? pieces_array(options, ranks, default_size)
                                              : boxes_array(options, ranks, default_dims);
  for (const std::int64_t extent : array.local()) {
    if (array.ghost <= extent && extent + 2 * array.ghost <= INT32_MAX) continue;
    throw AgreedFailure("--ghost " + std::to_string(array.ghost) + " is wider than a rank's box (" +
                            text_of(array.local(), 'x') + "), lower it",
                        2);
  }
  return array;
}

void describe(JsonWriter& json, const Array& array) {
  json.member("dims", text_of(array.dims, 'x'));
  json.member("grid", text_of(array.grid, 'x'));
  json.member("element", array.element);
  json.member("ghost", array.ghost);
  json.member("pieceBytes", array.run_bytes());
}

Layout array_layout(const World& world, const Array& array) {
  const Extents local = array.local();
  Extents start(array.dims.size());
  std::int64_t rest = world.rank;
  for (std::size_t axis = start.size(); axis-- > 0;) {
    start[axis] = rest % array.grid[axis] * local[axis];
    rest /= array.grid[axis];
  }
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(array.element), MPI_BYTE, &element);
  Layout layout;
  layout.etype = Datatype::commit(element);
  element = layout.etype.get();
  layout.file = box_strips(array.dims, local, start, array.element);
  layout.file_type = subarray(array.dims, local, start, element);
  if (array.ghost > 0) {
    Extents around = local;
    for (std::int64_t& extent : around) extent += 2 * array.ghost;
    const Extents inside(local.size(), array.ghost);
    layout.memory = box_strips(around, local, inside, array.element);
    layout.memory_type = subarray(around, local, inside, element);
    around.push_back(array.element);
    layout.memory_size = product(around);
  }
  complete(world, layout);
  return layout;
}

}  // namespace headrace::bench
