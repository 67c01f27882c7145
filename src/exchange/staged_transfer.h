#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "exchange/channel.h"
#include "plan/coverage.h"
#include "plan/windows.h"
#include "storage/store.h"
#include "view/copy.h"
#include "view/cursor.h"

namespace headrace::exchange {

/// How a channel's slot memory is divided: `count` slots of whole pages, and behind them one
/// coverage map each, large enough for a granule of one byte.
struct SlotGeometry {
  ByteCount window_size = 0;  ///< bytes of one slot, whole pages
  int count = 0;              ///< at most kMostSlots

  std::size_t bytes() const {
    constexpr std::size_t kPage = 4096;
    const auto slot = static_cast<std::size_t>(window_size + window_size / 8);
    return (static_cast<std::size_t>(count) * slot + kPage - 1) / kPage * kPage;
  }
};

/// Prepares fresh slots; the leader calls it before it tells the others of them.
void prepare_slots(Control& control, const SlotGeometry& geometry);

/// One rank's data in a staged call. The cursors stand at the first byte.
struct StagedAccess {
  Direction direction = Direction::write;
  view::Cursor file;
  view::Cursor memory;
  std::byte* buffer = nullptr;  ///< where offset 0 of `memory` lies
  FileOffset begin = 0;         ///< the first byte, and behind the last, in the file
  FileOffset end = 0;
  ByteCount bytes = 0;
};

/// What became of a rank's data in a staged call.
struct StagedOutcome {
  ByteCount bytes = 0;   ///< moved, from the start of the data
  int system_error = 0;  ///< why it stopped early; 0 at the end of the file, or when all was moved
};

/// Collective buffering on one node: ranks copy their pieces to or from slots of shared memory that
/// hold consecutive windows of the file in file order; a rank that finds the next window full (or,
/// reading, a slot free) and nobody at it writes (loads) it, while the others copy.
///
/// Windows are written and loaded in file order. Only ranks whose range meets a window, or a later
/// one, wait for it. When a window fails, the later ones of the call are left alone.
class StagedTransfer {
 public:
  /// `first_window`: number of the call's first window, counted over all calls on this channel;
  /// `granule_shift`: every piece of every rank begins and ends at a multiple of 1 <<
  /// granule_shift.
  StagedTransfer(Channel& channel, const Waiter& waiter, storage::Store& store,
                 const SlotMemory& slots, const SlotGeometry& geometry,
                 const plan::Windows& windows, std::int64_t first_window, int granule_shift);

  /// Takes this rank's part; requires access.bytes > 0.
  StagedOutcome run(StagedAccess& access);

 private:
  StagedOutcome write(StagedAccess& access);
  StagedOutcome read(StagedAccess& access);

  std::byte* slot_bytes(std::int64_t window) const;
  plan::Coverage coverage(std::int64_t window) const;
  Slot& slot(std::int64_t window) const;
  StagingFailure& failure() const;
  bool has_failed() const;
  plan::FileRange range(std::int64_t window) const {
    return windows_.range(window - first_window_);
  }

  bool slot_is_free(std::int64_t window) const;
  bool has_transferred(std::int64_t window) const;
  bool can_transfer_next(Direction direction, std::int64_t last) const;
  /// Writes or loads what is ready, one window after the other, unless another rank is at it.
  void transfer_ready(Direction direction, std::int64_t last);
  void write_window(std::int64_t window);
  void load_window(std::int64_t window);
  void fail(std::int64_t window, FileOffset done_end, int system_error);
  /// Waits for `done()`, transferring windows up to `last` meanwhile.
  template <class Done>
  void work_until(Direction direction, std::int64_t last, Done done);

  Channel& channel_;
  Waiter waiter_;
  Staging& staging_;
  storage::Store& store_;
  SlotMemory slots_;
  SlotGeometry geometry_;
  const plan::Windows& windows_;
  std::int64_t first_window_;
  int granule_shift_;
  std::uint64_t round_;
};

}  // namespace headrace::exchange
