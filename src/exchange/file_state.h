#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/types.h"
#include "exchange/range_locks.h"
#include "exchange/shared_pointer.h"
#include "fabric/board.h"
#include "plan/tiling.h"
#include "storage/write_turn.h"

namespace headrace::exchange {

/// One staging slot; Staging tells which window uses it.
struct alignas(64) Slot {
  std::atomic<std::int32_t> arrived;  ///< ranks that are done copying in (write) or out (read)
  std::atomic<plan::TilingSum::Value> pieces;  ///< write: of all ranks' pieces, where they may tile
  std::atomic<std::int64_t> loaded;            ///< read: the window whose bytes are here, plus one
  FileOffset valid_end;       ///< read: end of what the file had, at most the window's
  std::int32_t system_error;  ///< read: why it had no more; 0 at the end of the file
};

/// Why a call's windows were not written from some place on.
struct WriteStop {
  FileOffset done_end;        ///< all given bytes below are in the file
  std::int32_t system_error;  ///< 0 where pieces overlap, so that some byte may be nobody's
};

/// The first window of a round that could not be written.
struct StagingFailure {
  std::atomic<std::uint64_t> round;  ///< the round it belongs to
  std::int64_t window;
  WriteStop stop;
};

inline constexpr int kMaxSlots = 64;

/// A window that its node owns and that waits to be written or loaded, in a call in which nodes
/// exchange.
struct StoreJob {
  std::int64_t window;
  FileOffset begin;  ///< of what is to be loaded; of the window where it is written
  FileOffset end;
};

/// Windows that wait for the file, in the order in which they are dealt with; numbered on and on
/// over all calls. A leader adds them, any rank of the node takes the next one.
class StoreJobs {
 public:
  alignas(64) std::atomic<std::int64_t> added;
  alignas(64) std::atomic<std::int64_t> taken;
  std::atomic<std::int64_t> done;

  /// Valid while the job, or the last before it, is not taken: each that is not has a slot. Who
  /// takes it reads it first.
  StoreJob job(std::int64_t number) const {
    const Place& place = places_[index(number)];
    return {place.window.load(std::memory_order_relaxed),
            place.begin.load(std::memory_order_relaxed), place.end.load(std::memory_order_relaxed)};
  }
  void set_job(std::int64_t number, const StoreJob& job) {
    Place& place = places_[index(number)];
    place.window.store(job.window, std::memory_order_relaxed);
    place.begin.store(job.begin, std::memory_order_relaxed);
    place.end.store(job.end, std::memory_order_relaxed);
  }

 private:
  struct Place {
    std::atomic<std::int64_t> window;
    std::atomic<FileOffset> begin;
    std::atomic<FileOffset> end;
  };

  std::size_t index(std::int64_t number) const {
    return static_cast<std::size_t>(number) % places_.size();
  }

  /// More than there are slots: the leader looks at the last job that is done.
  std::array<Place, std::size_t{2} * kMaxSlots> places_;
};

/// How a leader's part in a call in which nodes exchange ended.
struct ExchangeEnd {
  std::atomic<std::uint64_t> round;  ///< that ended
  WriteStop stop;
};

/// Leaders that a node may have: its first ranks.
inline constexpr int kMaxLeaders = 4;

/// What one of a node's leaders and the node's ranks tell each other in calls in which nodes
/// exchange.
struct LeaderState {
  StoreJobs jobs;
  std::array<StagingFailure, fabric::kBoardDepth> failures;
  std::array<ExchangeEnd, fabric::kBoardDepth> ends;
  /// The last round whose plan is to be made by so many leaders, each with message buffers of such
  /// a size (MessageBuffers::Size); told by the first one, whose slots hold what the nodes told
  /// each other.
  std::atomic<std::uint64_t> offered;
  int leaders;
  int slots;
  ByteCount window_size;
  std::size_t depth;
  /// The last round whose plan a further one has, or has no memory for.
  std::atomic<std::uint64_t> prepared;
  std::atomic<std::uint64_t> lacking;
};

struct Staging {
  alignas(64) std::atomic<std::int64_t> next;      ///< windows below are written, or being loaded
  alignas(64) std::atomic<std::uint32_t> writing;  ///< 1 while a rank writes a window
  std::atomic<std::int64_t> called;  ///< the window, plus one, that a rank was last woken to write
  std::array<StagingFailure, fabric::kBoardDepth> failures;
  /// Windows are numbered on and on over all calls, and get slots in this order: who is done with a
  /// slot gives it to the first window that has none. Of each slot, the window that has it.
  alignas(64) std::array<std::atomic<std::int64_t>, kMaxSlots> windows;
  alignas(64) std::atomic<std::int64_t> without_slot;  ///< that window
  std::atomic<std::uint64_t> populated;  ///< a bit for each slot: a rank of this file has mapped it
  std::array<Slot, kMaxSlots> slots;
  std::array<LeaderState, kMaxLeaders> leaders;
};

/// What the ranks of a node tell each other about one open file besides.
struct SharedFile {
  /// Failed writes so far whoever's bytes they were, and the errno of the last one.
  std::atomic<std::int64_t> failed_writes;
  std::atomic<std::int32_t> last_system_error;
  alignas(64) SharedPointer pointer;  ///< on the first rank's node
  alignas(64) RangeLocks locks;       ///< used in atomic mode
  storage::WriteTurnState write_turn;
};

/// What the ranks of a node share about one open file. Lives in shared memory, zeroed when new, and
/// is never reset: a file that is opened at the same place goes on counting.
struct FileState {
  SharedFile file;
  Staging staging;
};

}  // namespace headrace::exchange
