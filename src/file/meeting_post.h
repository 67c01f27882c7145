#pragma once

#include <cstdint>

#include "base/types.h"
#include "fabric/posted_value.h"

namespace headrace::file {

/// A magic number for the direction of a call: ranks that come to different calls, which is an
/// error of the program, post different numbers. They spell "writes.." and "reads...".
constexpr std::int64_t announced(Direction direction) {
  return direction == Direction::write ? 0x7772697465732e2e : 0x72656164732e2e2e;
}

/// What a rank posts for the others of its node when a collective call begins.
struct MeetingPost {
  std::int64_t direction = 0;  ///< see announced()
  FileOffset begin = 0;        ///< where the rank's bytes begin in the file
  FileOffset end = 0;
  ByteCount bytes = 0;
  std::int64_t pieces = 0;
  std::int64_t granule = 0;  ///< every piece begins and ends at a multiple of it
  FileOffset first_piece_end = 0;
  std::int64_t next_window = 0;  ///< the number after the last window of earlier calls
  std::int64_t may_lead = 0;     ///< 1: in this call, if nodes exchange

  // What only the node's leader fills in.
  std::int64_t slots_offset = -1;  ///< offset of the slots in the node's memory; -1: there are none
  ByteCount window_size = 0;
  std::int64_t slot_count = 0;
  std::int64_t cores = 0;
  std::int64_t page_transfer = 0;  ///< nanoseconds that a page takes from core to core; 0: unknown
  std::int64_t measures_distance = 0;  ///< 1: measures in this call
};
static_assert(fabric::Postable<MeetingPost>);

}  // namespace headrace::file
