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

/// The state of one slot; Staging has the window that uses it.
struct alignas(64) Slot {
  std::atomic<std::int32_t> arrived;  ///< how many ranks have copied in (write) or out (read)
  std::atomic<plan::TilingSum::Value>
      pieces;                        ///< write: the sum over all ranks' pieces, if they may tile
  std::atomic<std::int64_t> loaded;  ///< read: the window whose bytes are here, plus one
  FileOffset valid_end;  ///< read: end of the bytes that the file had, at most the window's end
  std::int32_t
      system_error;  ///< read: errno, if that is why there are no more; 0 at the end of the file
};

/// Up to where a call's windows were written, and why not further.
struct WriteStop {
  FileOffset done_end;  ///< all given bytes below are in the file
  std::int32_t
      system_error;  ///< 0 if pieces overlap, so that some bytes in between may be no rank's
};

/// The first window of a round that could not be written.
struct StagingFailure {
  std::atomic<std::uint64_t> round;  ///< the round of the call
  std::int64_t window;
  WriteStop stop;
};

inline constexpr int kMaxSlots = 64;

/// A window that this node owns and that waits to be written or loaded, in an exchanged call.
struct StoreJob {
  std::int64_t window;
  FileOffset begin;  ///< of the range to load; of the whole window if it is written
  FileOffset end;
};

/// A queue of windows that wait to be written or loaded. Jobs are numbered consecutively over all
/// calls. The leader adds them; any rank of the node takes the next one.
class StoreJobs {
 public:
  alignas(64) std::atomic<std::int64_t> added;
  alignas(64) std::atomic<std::int64_t> taken;
  std::atomic<std::int64_t> done;

  /// Valid until the job after this one is taken, since each job that is not taken has a slot: read
  /// a job before taking it.
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

  /// More places than slots: the leader also reads the last job that is done.
  std::array<Place, std::size_t{2} * kMaxSlots> places_;
};

/// How a leader's part in an exchanged call ended.
struct ExchangeEnd {
  std::atomic<std::uint64_t> round;  ///< the round that ended
  WriteStop stop;
};

/// At most so many leaders on a node: its first ranks.
inline constexpr int kMaxLeaders = 4;

/// What one of a node's leaders and the node's ranks tell each other in exchanged calls.
struct LeaderState {
  StoreJobs jobs;
  std::array<StagingFailure, fabric::kBoardDepth> failures;
  std::array<ExchangeEnd, fabric::kBoardDepth> ends;
  /// The last round in which the first leader has told the other leaders to make the plan: how many
  /// leaders there are and how large their message buffers are (MessageBuffers::Size). The first
  /// leader's slots hold what the nodes told each other.
  std::atomic<std::uint64_t> offered;
  int leaders;
  int slots;
  ByteCount window_size;
  std::size_t depth;
  /// The last round for which another leader has made the plan, or has found no memory for it.
  std::atomic<std::uint64_t> prepared;
  std::atomic<std::uint64_t> lacking;
};

struct Staging {
  alignas(64) std::atomic<std::int64_t> next;  ///< windows below are written (write), or loaded or
                                               ///< being loaded (read)
  alignas(64) std::atomic<std::uint32_t> writing;  ///< 1 while a rank writes a window
  std::atomic<std::int64_t> called;  ///< the last window, plus one, that a rank was woken to write
  std::array<StagingFailure, fabric::kBoardDepth> failures;
  /// The window that each slot belongs to. Windows are numbered consecutively over all calls and
  /// get slots in this order: when a window is done, its slot goes to the first that has none.
  alignas(64) std::array<std::atomic<std::int64_t>, kMaxSlots> windows;
  alignas(64) std::atomic<std::int64_t> without_slot;  ///< the first window that has no slot
  std::atomic<std::uint64_t> populated;  ///< a bit for each slot that a rank has mapped
  std::array<Slot, kMaxSlots> slots;
  std::array<LeaderState, kMaxLeaders> leaders;
};

/// What else the ranks of a node tell each other about one open file.
struct SharedFile {
  /// How many writes have failed, of any rank's bytes, and the errno of the last one.
  std::atomic<std::int64_t> failed_writes;
  std::atomic<std::int32_t> last_system_error;
  alignas(64) SharedPointer pointer;  ///< on the first rank's node
  alignas(64) RangeLocks locks;       ///< used in atomic mode
  storage::WriteTurnState write_turn;
};

/// What the ranks of a node share about one open file. It lies in shared memory, is zeroed when
/// new, and is never reset: a file that is later opened at the same place goes on counting.
struct FileState {
  SharedFile file;
  Staging staging;
};

}  // namespace headrace::exchange
