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

// Collective buffering on one node: the ranks' pieces go through slots of shared memory that hold
// consecutive windows of the file in file order. A rank waits only for windows that its range
// meets, or earlier ones.

/// What the ranks of a node know of a staged call, the same on all.
struct StagedCall {
  FileChannel& channel;
  fabric::Waiter waiter;
  storage::Store& store;
  Slots& slots;
  const plan::Windows& windows;
  std::int64_t first_window;  ///< number of the first window, counted over all calls of the channel
  int granule_shift;          ///< every piece begins and ends at a multiple of 1 << granule_shift
  /// The ranks' bytes are as many as lie between the first and the last: unless pieces overlap, no
  /// byte in between is left out.
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
  /// Where ranks take turns on cores, they wait for several windows at a time, a turn's, so that
  /// turns are long: half of the slots, so that the ranks before them can go on with the others.
  std::int64_t windows_of_turn() const {
    const int count = slots.geometry().count;
    return count % 2 == 0 ? count / 2 : 1;
  }
  /// What a rank waits for that needs `window`, and later `last`, and must sleep until then.
  std::int64_t sleep_until(std::int64_t window, std::int64_t last) const {
    if (!crowded) return window;
    const std::int64_t turn = windows_of_turn();
    return std::min(window / turn * turn + turn - 1, last);
  }
  /// Tells of a change to a window that ranks may wait for; on a crowded node it wakes them only
  /// when a turn's windows have changed. A rank that has more windows to come needs no waking for
  /// them: it looks itself before it sleeps.
  void signal(std::int64_t window) const {
    channel.board().event().signal_where([&] {
      return !crowded || (window + 1) % windows_of_turn() == 0 ||
             windows.ends_a_range(window - first_window);
    });
  }
};

/// One rank's data in a staged call, at least one byte. The cursors stand at the first, and are
/// moved; they are not copied, since that may take memory while others wait.
struct StagedAccess {
  view::Cursor& file;
  view::Cursor& memory;
  std::byte* buffer = nullptr;  ///< where offset 0 of `memory` lies
  FileOffset begin = 0;         ///< the first byte, and behind the last, in the file
  FileOffset end = 0;
  ByteCount bytes = 0;
  view::Stores stores = view::Stores::usual;  ///< streaming where the data exceeds the caches
  device::Staging* staging = nullptr;         ///< where the data lies in a device's memory

  /// Moves the data below `end_offset` between memory and the window, as view::copy().
  template <class Visit>
  ByteCount copy(Direction direction, view::Window window, FileOffset end_offset, Visit&& visit) {
    if (staging != nullptr) {
      return device::copy(direction, window, file, end_offset, *staging, memory, visit);
    }
    return view::copy(direction, window, file, end_offset, buffer, memory, memory.remaining(),
                      visit, stores);
  }
};

/// Why a rank's data was not moved to its end.
enum class StagedStop {
  none,
  failed,
  file_ended,      ///< reading
  pieces_overlap,  ///< writing: this rank must write the rest itself
};

/// What became of a rank's data in a staged call.
struct StagedOutcome {
  ByteCount bytes = 0;  ///< moved, from the start of the data
  StagedStop stop = StagedStop::none;
  int system_error = 0;  ///< where it failed

  void fail(int error) {
    stop = StagedStop::failed;
    system_error = error;
  }
};

/// Of a write that stopped so, for a rank whose data begins at `start`.
StagedOutcome outcome_of_write(const StagedAccess& access, ByteCount start, const WriteStop& stop);

/// Ranks copy into slots; a rank that finds the next window complete and nobody writing writes it,
/// while the others copy. Windows are written in file order; when one fails, the later ones of the
/// call are left alone.
StagedOutcome staged_write(const StagedCall& call, StagedAccess& access);

/// A rank that must wait for a window loads the next one that nobody has begun to load; several
/// ranks load different windows at a time. Then each copies its pieces out.
StagedOutcome staged_read(const StagedCall& call, StagedAccess& access);

}  // namespace headrace::exchange
