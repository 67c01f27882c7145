#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "device/device_copy.h"
#include "exchange/file_channel.h"
#include "exchange/slots.h"
#include "plan/windows.h"
#include "storage/store.h"
#include "view/copy.h"
#include "view/cursor.h"

namespace headrace::exchange {

// Collective buffering on one node: the ranks' pieces go through slots of shared memory, which hold
// consecutive windows of the file in file order. A rank waits only for windows that its range
// touches, or earlier ones.

/// What all ranks of a node know of a staged call.
struct StagedCall {
  FileChannel& channel;
  fabric::Waiter waiter;
  storage::Store& store;
  Slots& slots;
  const plan::Windows& windows;
  std::int64_t first_window;  ///< number of the first window, counted over all calls of the channel
  int granule_shift;          ///< every piece begins and ends at a multiple of 1 << granule_shift
  /// The ranks have as many bytes as there are between the first and the last: unless pieces
  /// overlap, they leave no byte out.
  bool may_tile;
  bool crowded;  ///< see Channel::is_crowded

  plan::FileRange range(std::int64_t window) const { return windows.range(window - first_window); }
  plan::FileRange touched(std::int64_t window) const {
    return windows.touched(window - first_window);
  }
  int participants(std::int64_t window) const {
    return windows.participants(window - first_window);
  }
  std::int64_t window_of(FileOffset offset) const {
    return first_window + windows.window_of(offset);
  }
  /// How many windows a rank waits for at a time. If ranks take turns on cores, that is half of the
  /// slots, so that turns are long and the other ranks can go on with the other half.
  std::int64_t windows_of_turn() const {
    const int count = slots.geometry().count;
    return count % 2 == 0 ? count / 2 : 1;
  }
  /// The window until whose end a rank sleeps that needs `window` now, and later all up to `last`.
  std::int64_t sleep_until(std::int64_t window, std::int64_t last) const {
    if (!crowded) return window;
    const std::int64_t turn = windows_of_turn();
    return std::min(window / turn * turn + turn - 1, last);
  }
  /// Signals a change to a window that ranks may wait for. On a crowded node it wakes them only
  /// when a turn's windows have changed. A rank with further windows need not be woken: it looks
  /// itself before it sleeps.
  void signal(std::int64_t window) const {
    channel.board().event().signal_where([&] {
      return !crowded || (window + 1) % windows_of_turn() == 0 ||
             windows.ends_a_range(window - first_window);
    });
  }
};

/// One rank's data in a staged call, at least one byte. The cursors stand at the first byte and are
/// moved. They must not be copied: that may take memory while others wait.
struct StagedAccess {
  view::Cursor& file;
  view::Cursor& memory;
  std::byte* buffer = nullptr;  ///< the address of offset 0 of `memory`
  FileOffset begin = 0;         ///< file offset of the first byte, and behind the last byte
  FileOffset end = 0;
  ByteCount bytes = 0;
  view::Stores stores = view::Stores::usual;  ///< streaming if the data exceeds the caches
  device::Staging* staging = nullptr;         ///< set if the data lies in a device's memory

  /// Moves the data below file offset `end_offset` between memory and the window; see view::copy().
  template <class Visit>
  ByteCount copy(Direction direction, view::Window window, FileOffset end_offset, Visit&& visit) {
    if (staging != nullptr) {
      return device::copy(direction, window, file, end_offset, *staging, memory, visit);
    }
    return view::copy(direction, window, file, end_offset, buffer, memory, memory.remaining(),
                      visit, stores);
  }
};

/// Why a rank's data was not moved completely.
enum class StagedStop {
  none,
  failed,
  file_ended,      ///< reading
  pieces_overlap,  ///< writing: this rank must write the rest itself
};

/// What became of a rank's data in a staged call.
struct StagedOutcome {
  ByteCount bytes = 0;  ///< how many were moved, from the start of the data
  StagedStop stop = StagedStop::none;
  int system_error = 0;  ///< errno of a failed call

  void fail(int error) {
    stop = StagedStop::failed;
    system_error = error;
  }
};

/// The outcome of a write that stopped at `stop`, for a rank whose data begins at `start`.
StagedOutcome outcome_of_write(const StagedAccess& access, ByteCount start, const WriteStop& stop);

/// Ranks copy into slots. A rank that finds the next window complete, and no rank writing, writes
/// it while the others copy. Windows are written in file order; if one fails, the later ones of the
/// call are not written.
StagedOutcome staged_write(const StagedCall& call, StagedAccess& access);

/// A rank that would have to wait for a window loads the next one that no rank has begun to load;
/// several ranks load different windows at the same time. Then each copies its pieces out.
StagedOutcome staged_read(const StagedCall& call, StagedAccess& access);

}  // namespace headrace::exchange
