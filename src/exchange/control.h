#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/types.h"
#include "exchange/board.h"
#include "exchange/event.h"
#include "exchange/range_locks.h"
#include "exchange/shared_pointer.h"

namespace headrace::exchange {

/// What the ranks of a node share about one open file. Lives in shared memory, zeroed when new, and
/// is never reset: a channel that is opened again at the same place continues its counts.

/// A combined round between nodes, published by the node's leader.
struct alignas(64) Published {
  std::atomic<std::uint64_t> round;
  std::int64_t failed;  ///< 1 where the exchange between nodes failed
  Values values;
};

/// One staging slot. Windows are numbered on and on over all calls; window w uses slot w % slots.
struct alignas(64) Slot {
  std::atomic<std::int64_t> next_window;  ///< the window that may use the slot now
  std::atomic<std::int32_t> arrived;      ///< ranks that are done copying in (write) or out (read)
  FileOffset valid_end;                   ///< read: end of what the file had, at most the window's
};

/// The first window of a round that could not be written or read.
struct StagingFailure {
  std::atomic<std::uint64_t> round;  ///< the round it belongs to
  std::int64_t window;
  FileOffset done_end;  ///< write: all given bytes below are in the file
  std::int32_t system_error;
};

inline constexpr int kMostSlots = 16;

struct Staging {
  alignas(64) std::atomic<std::int64_t> transferred;  ///< windows below are written, or loaded
  alignas(64) std::atomic<std::uint32_t> storing;     ///< 1 while a rank writes or loads a window
  std::array<StagingFailure, kBoardDepth> failures;
  std::array<Slot, kMostSlots> slots;
};

struct Control {
  Event event;
  /// Failed writes so far whoever's bytes they were, and the errno of the last one.
  alignas(64) std::atomic<std::int64_t> failed_writes;
  std::atomic<std::int32_t> last_system_error;
  alignas(64) SharedPointer pointer;  ///< on the first rank's node
  alignas(64) RangeLocks locks;       ///< used in atomic mode
  std::array<Published, kBoardDepth> published;
  Staging staging;
};

}  // namespace headrace::exchange
