#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/extents.h"
#include "common/json.h"
#include "common/layout.h"
#include "common/options.h"
#include "common/world.h"

namespace headrace::bench {

/// An n-dimensional array in C order (the last axis runs fastest), cut into equal boxes by a
/// process grid, the last axis of which counts ranks fastest.
struct Array {
  Extents dims;
  Extents grid;
  std::int64_t element = 8;  ///< bytes
  std::int64_t ghost = 0;    ///< cells around a rank's box in memory, on each side of each axis

  Extents local() const;             ///< a rank's box, without ghost cells
  std::int64_t local_bytes() const;  ///< INT64_MAX where it is beyond that
  std::int64_t bytes() const;        ///< of the whole array
  std::int64_t run_bytes() const;    ///< of a run in the file
  std::vector<std::pair<std::string, std::string>> lines() const;  ///< for print_head()
};

/// What the command line says of an array, before it is checked.
struct ArrayOptions {
  std::string dims;
  std::string grid;
  Size element{8};
  std::int64_t ghost = 0;
  Size piece;  ///< in place of dims, grid and element: ranks take turns by so many bytes,
  Size size;   ///< until each has so many
};

std::vector<Option> option_table(ArrayOptions& options);

/// The array for `ranks`; without --dims and --piece `default_dims`, with --piece and without
/// --size about `default_size` bytes a rank. Throws AgreedFailure with exit code 2.
Array make_array(const ArrayOptions& options, int ranks, const std::string& default_dims,
                 std::int64_t default_size);

/// The members "dims", "grid", "element", "ghost" and "pieceBytes".
void describe(JsonWriter& json, const Array& array);

/// A rank's box by MPI_Type_create_subarray in the file and, with ghost cells, in memory.
/// Collective.
Layout array_layout(const World& world, const Array& array);

}  // namespace headrace::bench
