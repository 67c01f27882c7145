#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "record/access_table.h"

/// Which file each descriptor of the program leads to, as far as its calls tell. All functions may
/// be called by any thread and by signal handlers, and keep errno.
namespace headrace::posix {

/// Of Opening::pending: one call.
inline constexpr std::uint64_t kPendingCall = std::uint64_t{1} << 44;

/// One open of a file, which descriptors share that were made of each other (dup).
struct Opening {
  std::atomic<std::uint32_t> descriptors;  ///< 0: free
  std::atomic<bool> is_file;               ///< what is no file is counted together
  std::atomic<bool> is_append;
  std::atomic<bool> is_moved;     ///< the position is not known
  std::atomic<const char*> name;  ///< in the image
  std::atomic<std::uint32_t> name_size;
  std::atomic<record::AccessItem*> items[record::kAccessLayers];  ///< null: none yet
  std::atomic<std::int64_t> position;  ///< where the next read or write begins
  std::atomic<std::int64_t>
      stream_position;                ///< where the stream's counted calls left it; -1: not known
  std::atomic<std::int64_t> checked;  ///< in ticks, when it was last seen to be this file
  std::atomic<std::uint64_t> device;  ///< with `inode`, which file it is; 0: not known
  std::atomic<std::uint64_t> inode;
  /// By direction, what short calls on a stream have moved within its buffer since fold(): bytes,
  /// and above them calls.
  std::atomic<std::uint64_t> pending[2];
  bool stands_for_many;  ///< for those for which there is no room

  /// Counts what is pending.
  void fold() noexcept;

  /// Its counts at a layer; null if it is no file.
  record::AccessCounts* counts(record::AccessLayer layer) noexcept;
};

/// A number in memory that the kernel clears for each child.
extern std::atomic<int>* own_process_mark;

/// Makes that number, for this process. False without memory.
bool prepare_own_mark();

/// The program is about to start a child that may share this memory (vfork).
void expect_child_in_this_memory() noexcept;

/// Whether calls are counted at all.
extern std::atomic<bool> is_counting;

/// Makes room for all of them, and lets calls be counted. False without memory.
bool prepare_descriptors();

/// Whether this is the process whose files are counted, and not a child that shares its memory
/// until it executes another program (vfork).
bool is_in_own_process() noexcept;

/// The same for calls that open and close. The kernel is asked only once a call was seen that may
/// start such a child: asking takes a third of all that counting these calls costs.
bool is_taken_for_own_process() noexcept;

/// False in each child that has memory of its own, however it was made. Costs one load.
inline bool may_be_own_process() noexcept {
  return own_process_mark->load(std::memory_order_relaxed) != 0;
}

/// Counts what is pending of all streams that are still open.
void fold_all() noexcept;

/// What a descriptor leads to as far as is known; null if nothing is. Looks at nothing.
Opening* known_opening(int descriptor) noexcept;

/// A file was opened by the program. `name`: as it gave it, from the directory `directory`, a
/// descriptor or AT_FDCWD; `flags` are those of open(2). Null if it is none that is counted.
Opening* note_open(int descriptor, record::AccessLayer layer, int directory, std::string_view name,
                   int flags) noexcept;

/// The descriptor is about to be closed, or leads elsewhere. The counts that it had, or null.
record::AccessCounts* forget(int descriptor, record::AccessLayer layer) noexcept;
void forget_range(unsigned first, unsigned last) noexcept;

/// `copy` leads to what `descriptor` leads to.
void share(int descriptor, int copy) noexcept;

/// What a descriptor leads to; looked up if nobody has seen it opened. `now` in ticks: after a
/// while it is looked at again, since a descriptor may be closed and opened unseen. Never null:
/// there is one for those for which there is no room.
Opening& opening_of(int descriptor, std::int64_t now) noexcept;

}  // namespace headrace::posix
