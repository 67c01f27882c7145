#pragma once

#include <cstdint>

#include "base/types.h"
#include "fabric/posted_value.h"

namespace headrace::file {

/// Which call a rank came to meet in: two ranks that come to different ones, an error of the
/// program, post different numbers. They spell "writes.." and "reads...".
constexpr std::int64_t announced(Direction direction) {
  return direction == Direction::write ? 0x7772697465732e2e : 0x72656164732e2e2e;
}

/// What a rank tells the others of its node when a collective call begins.
struct MeetingPost {
  std::int64_t direction = 0;  ///< as announced() has it
  FileOffset begin = 0;        ///< of the rank's bytes in the file
  FileOffset end = 0;
  ByteCount bytes = 0;
  std::int64_t pieces = 0;
  std::int64_t granule = 0;  ///< every piece begins and ends at a multiple of it
  FileOffset first_piece_end = 0;
  std::int64_t next_window = 0;  ///< windows of earlier calls are below
  std::int64_t may_lead = 0;     ///< 1: in this call, where nodes exchange

  // What the node's leader has.
  std::int64_t slots_offset = -1;  ///< of the slots in the node's memory; -1: there are none
  ByteCount window_size = 0;
  std::int64_t slot_count = 0;
  std::int64_t cores = 0;
  std::int64_t page_transfer = 0;      ///< ns that a page takes from core to core; 0: not known
  std::int64_t measures_distance = 0;  ///< 1: in this call
};
static_assert(fabric::Postable<MeetingPost>);

}  // namespace headrace::file
