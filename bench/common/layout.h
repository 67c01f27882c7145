#pragma once

#include <cstdint>

#include "common/datatype.h"
#include "common/strips.h"
#include "common/world.h"

namespace headrace::bench {

/// Which bytes a rank moves in one call, in the file and in memory, and the same as MPI datatypes.
struct Layout {
  Strips file;                   ///< in increasing order of file offsets
  Strips memory;                 ///< of the same bytes, in the same order
  std::int64_t bytes = 0;        ///< of this rank
  std::int64_t memory_size = 0;  ///< of the rank's buffer, with what is not moved
  std::int64_t total_bytes = 0;  ///< of all ranks
  std::int64_t file_size = 0;    ///< where the last run of any rank ends

  /// The view: `file_type` of `etype`, from byte `start` on.
  Datatype etype = Datatype::predefined(MPI_BYTE);
  Datatype file_type;
  std::int64_t start = 0;
  /// One of it is what the call moves; null where the memory is contiguous.
  Datatype memory_type;

  bool is_contiguous_in_memory() const { return memory_type.is_null(); }
};

/// Completes a layout whose `file`, and `memory` unless it is contiguous, are there: finds the
/// bytes and the sizes. Collective.
void complete(const World& world, Layout& layout);

/// `count` blocks of `block` bytes, the first at `start`, from begin to begin `stride` bytes.
/// Collective.
Layout block_layout(const World& world, std::int64_t start, std::int64_t block, std::int64_t stride,
                    std::int64_t count);

/// As many bytes as `other` moves, through a buffer of the same size, each rank's in one run and
/// the ranks one after the other: what `other` is measured against. Collective.
Layout contiguous_layout(const World& world, const Layout& other);

}  // namespace headrace::bench
