#pragma once

#include <cstdint>

#include "base/types.h"
#include "view/type.h"

namespace headrace::count {

/// What one rank sees of a file and moves in each call, `bytes` of contiguous memory.
struct Shape {
  FileOffset displacement = 0;
  view::TypePtr filetype;
  ByteCount bytes = 0;
};

// A rank's share in a file of about `total` bytes:

/// Rows of `piece` bytes of a 2-D array whose columns the ranks divide.
Shape tile(ByteCount total, ByteCount piece, int rank, int ranks);

/// Disjoint pieces of 50 to 150 bytes in random order of ranks; together they fill the file.
Shape irregular(ByteCount total, int rank, int ranks);

/// A lattice field of 8x8x8x16 sites of 576 bytes in even/odd order, as lattice-QCD programs keep
/// it; x runs fastest. Ranks divide y, 8 of them y, z and t.
Shape lattice(int rank, int ranks);

/// One stretch a rank, moved by `calls` calls of `bytes` bytes each.
Shape contiguous(ByteCount bytes, int calls, int rank);

}  // namespace headrace::count
