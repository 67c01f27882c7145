#pragma once

#include <cstdint>

#include "common/layout.h"
#include "common/world.h"

namespace headrace::bench::irregular {

/// How the file is cut at random.
struct Shape {
  std::int64_t pieces = 100'000;  ///< of each rank
  std::int64_t mean = 100;        ///< bytes of a piece
  double spread = 0.5;            ///< lengths are uniform in mean * [1 - spread, 1 + spread]
  std::int64_t gap = 0;           ///< mean bytes between pieces, uniform in [0, 2 * gap]
  bool permuted = false;          ///< pieces stand in memory in a random order
  std::int64_t seed = 1;

  std::int64_t shortest() const;  ///< bytes, at least 1
  std::int64_t longest() const;
};

/// The pieces of this rank. From the file's begin on, piece by piece, the length, the gap before it
/// and the rank it belongs to are drawn, so that each rank ends with shape.pieces of them; every
/// rank draws the same. The view and, when permuted, the memory are MPI_Type_create_hindexed.
/// Collective.
Layout random_layout(const World& world, const Shape& shape);

}  // namespace headrace::bench::irregular
