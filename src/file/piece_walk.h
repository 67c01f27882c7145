#pragma once

#include <cstddef>
#include <cstdint>

#include "file/direct_transfer.h"
#include "view/copy.h"

namespace headrace::file {

/// Calls visit(file_offset, memory, length) for each piece of a run until it returns false. Returns
/// whether all calls returned true.
template <class Visit>
bool for_each_piece_while(Access& access, const view::StridedRun& run, Visit visit) {
  view::PairReader reader(run, access.memory);
  while (reader.next()) {
    const view::PiecePairs& pairs = reader.pairs();
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      if (!visit(pairs.file_offset + i * pairs.file_stride,
                 view::memory_at(access.buffer, pairs.memory_offset + i * pairs.memory_stride),
                 pairs.length)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace headrace::file
