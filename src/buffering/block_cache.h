#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/process_mark.h"
#include "buffering/block.h"
#include "buffering/buffer_counts.h"
#include "buffering/buffer_plan.h"
#include "storage/store.h"
#include "threads/helper_threads.h"

namespace headrace::buffering {

/// Set when the program ends: nobody will write blocks any more, so writes go to the store.
extern std::atomic<bool> program_ends;

/// The blocks of one open file on one rank. Small writes stay in a block until it is full, or until
/// another range is written to it; helper threads write full blocks, and read blocks ahead of a
/// sequential reader. Only bytes that were written to it are written to the store. Safe from
/// several threads.
class BlockCache : public threads::Job, public std::enable_shared_from_this<BlockCache> {
 public:
  /// `store` must live until leave() has returned.
  BlockCache(storage::Store& store, const BufferShape& shape);

  /// As those of the store. A write may fail for what an earlier one left in a block; then none of
  /// its own bytes is taken, and the block keeps what it has, to be tried again.
  storage::Transferred read(FileOffset offset, std::span<const iovec> segments);
  storage::Transferred write(FileOffset offset, std::span<const iovec> segments);

  /// Writes what the blocks hold back, and keeps what cannot be written. Returns an errno, or 0: of
  /// what was not written, or of what no call has told.
  int flush();
  /// Does the same, then forgets all that the blocks hold, so that nothing older than this call is
  /// read or written later. What cannot be written is lost; its errno is returned.
  int settle();
  struct Unsettled {
    ByteCount bytes = 0;  ///< not written
    int error = 0;        ///< an errno that no call has told, though all is written
  };
  /// Writes what the blocks hold back, but waits for no other thread longer than until `deadline`,
  /// since that may be the one that calls: from a signal's handler, say.
  Unsettled settle_until(std::chrono::steady_clock::time_point deadline);
  /// Waits until no helper thread has to do with the store. Call after settle().
  void leave();

  BufferCounts counts() const;
  void work() noexcept override;

 private:
  using Lock = std::unique_lock<std::timed_mutex>;

  struct Task {
    Block* block;
    Direction direction;
  };

  Range range_of(FileOffset offset) const;
  Block* find(FileOffset offset);
  Block* find_idle(Lock& lock, FileOffset offset);
  Block* victim(bool may_be_dirty);
  Block* idle_with_memory();
  Block* claim(Lock& lock, FileOffset offset, int& error);
  storage::Transferred write_through(FileOffset offset, ByteCount bytes,
                                     std::span<const iovec> segments);
  storage::Transferred put(Lock& lock, const Range& piece, const std::byte* data);
  storage::Transferred get(Lock& lock, const Range& piece, std::byte* data, bool is_sequential);
  ByteCount copy_known(Lock& lock, const Range& range, std::byte* data);
  bool holds_part_of(const Range& range) const;
  int fill(Lock& lock, Block& block, FileOffset from);
  int write_out(Lock& lock, Block& block);
  int write_all(Lock& lock, const Range& range);
  int flush(Lock& lock);
  void note_behind(int error);
  int take_untold();
  int told_with(int error);
  void read_ahead(FileOffset offset);
  void fill_ahead(Lock& lock, Block& block);
  bool hand_over(Block& block, Direction direction);
  void await_change(Lock& lock);
  void take_back();
  void forget(Lock& lock, const Range& range);
  storage::Transferred move(Direction direction, const Range& range, std::byte* memory);
  storage::Transferred move_unlocked(Lock& lock, Direction direction, const Range& range,
                                     std::byte* memory);
  storage::Transferred read_store(Lock& lock, const Range& range, std::span<const iovec> segments);

  storage::Store& store_;
  const BufferShape shape_;
  const bool is_local_;  ///< no other node reaches the file
  ProcessMark process_;
  mutable std::timed_mutex mutex_;       ///< guards what follows
  std::condition_variable_any changed_;  ///< notified when a block stops being busy
  std::vector<Block> blocks_;
  std::vector<Task> handed_;  ///< to helper threads that have not begun
  std::int64_t jobs_ = 0;     ///< that helper threads have, or will begin
  Block* last_ = nullptr;     ///< the one used last
  std::uint64_t uses_ = 0;
  FileOffset next_read_ = -1;       ///< where a sequential reader goes on
  FileOffset end_seen_ = -1;        ///< where a read found the file's end; -1: none did
  bool has_failed_behind_ = false;  ///< a block could not be written behind the calls
  int untold_ = 0;                  ///< why, if no call has told it
  BufferCounts counts_;
};

}  // namespace headrace::buffering
