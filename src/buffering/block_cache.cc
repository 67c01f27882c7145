#include "buffering/block_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "buffering/guards.h"

namespace headrace::buffering {

std::atomic<bool> program_ends = false;

using storage::bytes_of;
using storage::Transferred;

namespace {

constexpr Range kAll{0, std::numeric_limits<FileOffset>::max()};

/// Calls `action` for each part of the segments that lies in one block: with its range of the file
/// and its memory. Ends when that returns false.
template <class Action>
void for_each_piece(FileOffset offset, std::span<const iovec> segments, ByteCount block_size,
                    Action action) {
  for (const iovec& segment : segments) {
    auto* memory = static_cast<std::byte*>(segment.iov_base);
    for (auto left = static_cast<ByteCount>(segment.iov_len); left > 0;) {
      const ByteCount bytes = std::min(left, block_size - offset % block_size);
      if (!action(Range{offset, offset + bytes}, memory)) return;
      offset += bytes;
      memory += bytes;
      left -= bytes;
    }
  }
}

}  // namespace

BlockCache::BlockCache(storage::Store& store, const BufferShape& shape)
    : store_(store),
      shape_(shape),
      is_local_(storage::is_local(store.layout().kind)),
      blocks_(static_cast<std::size_t>(shape.count)) {
  handed_.reserve(blocks_.size());
}

Transferred BlockCache::write(FileOffset offset, std::span<const iovec> segments) {
  const ByteCount bytes = bytes_of(segments);
  const bool is_over = program_ends.load(std::memory_order_relaxed);
  if (bytes >= shape_.size || is_over) return write_through(offset, bytes, segments);
  Lock lock(mutex_);
  counts_.writes += 1;
  end_seen_ = -1;
  if (has_failed_behind_) [[unlikely]] {
    if (const int error = flush(lock)) return {0, error};
  }
  Transferred done;
  for_each_piece(offset, segments, shape_.size, [&](const Range& piece, std::byte* memory) {
    const Transferred taken = put(lock, piece, memory);
    done.bytes += taken.bytes;
    done.system_error = taken.system_error;
    return taken.system_error == 0;
  });
  return done;
}

Transferred BlockCache::read(FileOffset offset, std::span<const iovec> segments) {
  const ByteCount bytes = bytes_of(segments);
  const Range range{offset, offset + bytes};
  Lock lock(mutex_);
  const bool is_sequential = offset == next_read_;
  if (bytes >= shape_.size || (!is_sequential && !holds_part_of(range))) {
    ++(bytes >= shape_.size ? counts_.large : counts_.single_reads);
    const Transferred got = read_store(lock, range, segments);
    next_read_ = offset + got.bytes;
    return got;
  }
  counts_.reads += 1;
  Transferred done;
  for_each_piece(offset, segments, shape_.size, [&](const Range& piece, std::byte* memory) {
    const Transferred got = get(lock, piece, memory, is_sequential);
    done.bytes += got.bytes;
    done.system_error = got.system_error;
    return got.system_error == 0 && got.bytes == piece.bytes();
  });
  next_read_ = offset + done.bytes;
  if (is_sequential && done.bytes > 0) read_ahead(next_read_ - 1);
  return done;
}

/// A call of a block's size or more gains nothing here. Other threads may fill blocks of its range
/// meanwhile, so these are forgotten when it ends, in whatever way.
Transferred BlockCache::write_through(FileOffset offset, ByteCount bytes,
                                      std::span<const iovec> segments) {
  struct Forgetting {
    BlockCache& cache;
    Range range;
    ~Forgetting() {
      Lock lock(cache.mutex_);
      cache.end_seen_ = -1;
      cache.forget(lock, range);
    }
  };
  const Range range{offset, offset + bytes};
  {
    Lock lock(mutex_);
    counts_.large += 1;
    if (const int error = write_all(lock, range)) return {0, error};
  }
  const Forgetting forgetting{*this, range};
  return store_.write(offset, segments);
}

/// Puts bytes of one block there. Without memory for it, they go to the store.
Transferred BlockCache::put(Lock& lock, const Range& piece, const std::byte* data) {
  int error = 0;
  Block* const block = claim(lock, piece.begin, error);
  if (error != 0) return {0, error};
  if (block == nullptr) return move(Direction::write, piece, const_cast<std::byte*>(data));
  if (!block->dirty.joins(piece)) {
    error = write_out(lock, *block);
    if (error != 0) return {0, error};
  }
  std::memcpy(block->at(piece.begin), data, static_cast<std::size_t>(piece.bytes()));
  block->known = block->known.joins(piece) ? block->known.with(piece) : piece;
  block->dirty = block->dirty.with(piece);
  const bool is_at_end = block->dirty.end == block->begin + shape_.size;
  if (is_at_end && !hand_over(*block, Direction::write)) {
    // The bytes are taken: if they cannot be written, a later call tells.
    note_behind(write_out(lock, *block));
  }
  return {piece.bytes(), 0};
}

/// Gets bytes of one block. Fewer without an error: the file ends there.
Transferred BlockCache::get(Lock& lock, const Range& piece, std::byte* data, bool is_sequential) {
  ByteCount done = copy_known(lock, piece, data);
  if (done == piece.bytes()) return {done, 0};
  // What cannot be written of other ranges is no reason that these bytes cannot be read.
  int error = 0;
  Block* const block = is_sequential ? claim(lock, piece.begin, error) : nullptr;
  if (block != nullptr) error = write_out(lock, *block);
  note_behind(error);
  if (block != nullptr && error == 0) {
    error = fill(lock, *block, piece.begin + done);
    if (error != 0) return {done, error};
    return {done + copy_known(lock, {piece.begin + done, piece.end}, data + done), 0};
  }
  const Range rest{piece.begin + done, piece.end};
  const iovec segment{data + done, static_cast<std::size_t>(rest.bytes())};
  const Transferred got = read_store(lock, rest, {&segment, 1});
  return {done + got.bytes, got.system_error};
}

/// Copies what the block knows from the range's begin on. Returns how many bytes that is.
ByteCount BlockCache::copy_known(Lock& lock, const Range& range, std::byte* data) {
  Block* const block = find_idle(lock, range.begin);
  if (block == nullptr || !block->known.contains(range.begin)) return 0;
  const ByteCount bytes = std::min(range.end, block->known.end) - range.begin;
  std::memcpy(data, block->at(range.begin), static_cast<std::size_t>(bytes));
  block->used = ++uses_;
  if (std::exchange(block->is_ahead, false)) counts_.ahead_used += 1;
  return bytes;
}

/// Whether a block has a part of the range, or will.
bool BlockCache::holds_part_of(const Range& range) const {
  return std::ranges::any_of(
      blocks_, [&](const Block& block) { return block.whole(shape_.size).overlaps(range); });
}

/// Reads bytes of a block that holds none back, from `from` to its end. Returns an errno, or 0.
int BlockCache::fill(Lock& lock, Block& block, FileOffset from) {
  const Range range{from, block.begin + shape_.size};
  Transferred got;
  {
    const BusyBlock busy(block, changed_);
    const iovec segment{block.at(from), static_cast<std::size_t>(range.bytes())};
    got = read_store(lock, range, {&segment, 1});
  }
  counts_.blocks_read += 1;
  const Range filled{from, from + got.bytes};
  block.known = block.known.contains(from - 1) ? Range{block.known.begin, filled.end} : filled;
  block.used = ++uses_;
  if (got.bytes < range.bytes() && got.system_error == 0) end_seen_ = filled.end;
  // What was read before an error is good.
  return got.bytes > 0 ? 0 : got.system_error;
}

/// Reads from the store, without the lock. What the blocks hold back may lie behind the file's
/// present end: then there are zeros up to there.
Transferred BlockCache::read_store(Lock& lock, const Range& range,
                                   std::span<const iovec> segments) {
  if (const int error = write_all(lock, range)) return {0, error};
  FileOffset held_end = 0;
  for (const Block& block : blocks_) held_end = std::max(held_end, block.dirty.end);
  for (bool is_again = false;; is_again = true) {
    Transferred got;
    {
      const Unlocked open(lock);
      got = store_.read(range.begin, segments);
    }
    const bool has_more = got.bytes < range.bytes() && held_end > range.begin + got.bytes;
    if (got.system_error != 0 || !has_more || is_again) return got;
    // A helper thread may have written them meanwhile.
    if (const int error = write_all(lock, kAll)) return {got.bytes, error};
  }
}

Transferred BlockCache::move_unlocked(Lock& lock, Direction direction, const Range& range,
                                      std::byte* memory) {
  const Unlocked open(lock);
  return move(direction, range, memory);
}

Transferred BlockCache::move(Direction direction, const Range& range, std::byte* memory) {
  const iovec segment{memory, static_cast<std::size_t>(range.bytes())};
  try {
    const Transferred done = direction == Direction::write
                                 ? store_.write(range.begin, {&segment, 1})
                                 : store_.read(range.begin, {&segment, 1});
    const bool is_lost = direction == Direction::write && done.bytes < range.bytes();
    return {done.bytes, is_lost && done.system_error == 0 ? EIO : done.system_error};
  } catch (const std::bad_alloc&) {
    return {0, ENOMEM};
  }
}

/// Writes what a block holds back: an idle one, or one that was handed to this helper thread.
/// Others leave it alone meanwhile, and it is idle afterwards. Returns an errno, or 0.
int BlockCache::write_out(Lock& lock, Block& block) {
  if (block.dirty.is_empty()) return 0;
  const BusyBlock busy(block, changed_);
  const Range range = block.dirty;
  const Transferred done = move_unlocked(lock, Direction::write, range, block.at(range.begin));
  counts_.blocks_written += done.bytes > 0 ? 1 : 0;
  block.dirty.begin += done.bytes;
  if (block.dirty.is_empty()) block.dirty = {};
  if (block.dirty.is_empty()) return 0;
  return done.system_error;
}

/// Writes what the blocks hold back of the range, of each block all. Returns the first errno, or 0.
int BlockCache::write_all(Lock& lock, const Range& range) {
  int failed = 0;
  for (Block& block : blocks_) {
    // A block that is busy with reading has nothing to write.
    while (block.is_busy && block.dirty.overlaps(range)) await_change(lock);
    if (!block.dirty.overlaps(range)) continue;
    const int error = write_out(lock, block);
    if (failed == 0) failed = error;
  }
  return failed;
}

/// Forgets what the blocks know of the range, but for what they hold back.
void BlockCache::forget(Lock& lock, const Range& range) {
  for (Block& block : blocks_) {
    while (block.is_busy && block.whole(shape_.size).overlaps(range)) await_change(lock);
    if (!block.known.overlaps(range)) continue;
    block.known = block.dirty;
    if (block.known.is_empty()) block.forget();
  }
}

/// `error`: of bytes that no call has waited for.
void BlockCache::note_behind(int error) {
  if (error == 0) return;
  has_failed_behind_ = true;
  if (untold_ == 0) untold_ = error;
}

/// What is to be told of these once all is written. On a local file system, what failed has been
/// written meanwhile. NFS tells an error of earlier writes once, and takes the next.
int BlockCache::take_untold() {
  const int error = std::exchange(untold_, 0);
  return is_local_ ? 0 : error;
}

/// For a call that has met `error` itself, or none (0), and tells one.
int BlockCache::told_with(int error) {
  const int untold = take_untold();
  return error != 0 ? error : untold;
}

int BlockCache::flush(Lock& lock) {
  has_failed_behind_ = false;
  const int error = write_all(lock, kAll);
  if (error != 0) has_failed_behind_ = true;
  return told_with(error);
}

int BlockCache::flush() {
  Lock lock(mutex_);
  return flush(lock);
}

int BlockCache::settle() {
  Lock lock(mutex_);
  int failed = 0;
  for (Block& block : blocks_) {
    while (block.is_busy) await_change(lock);
    // Other threads may write to other blocks meanwhile, but not to this one before it is
    // forgotten.
    const int error = write_out(lock, block);
    if (failed == 0) failed = error;
    block.forget();
  }
  next_read_ = end_seen_ = -1;
  has_failed_behind_ = false;
  return told_with(failed);
}

BlockCache::Unsettled BlockCache::settle_until(std::chrono::steady_clock::time_point deadline) {
  if (!process_.is_here()) return {};
  Lock lock(mutex_, deadline);
  ByteCount left = 0;
  if (lock) take_back();
  for (Block& block : blocks_) {
    if (block.dirty.is_empty()) continue;
    const bool is_idle =
        lock && changed_.wait_until(lock, deadline, [&] { return !block.is_busy; });
    if (is_idle) {
      write_out(lock, block);
      left += block.dirty.bytes();
    } else {
      // The thread that was writing it may be the one that a signal has brought here. What it has
      // to write does not change meanwhile, so it is written once more, and no state is touched.
      const Range range = block.dirty;
      const bool is_written =
          lock && move(Direction::write, range, block.at(range.begin)).bytes == range.bytes();
      left += is_written ? 0 : range.bytes();
    }
  }
  return {left, lock && left == 0 ? take_untold() : 0};
}

void BlockCache::leave() {
  if (!process_.is_here()) return;
  Lock lock(mutex_);
  for (const Block& block : blocks_) {
    while (block.is_busy) await_change(lock);
  }
}

BufferCounts BlockCache::counts() const {
  const Lock lock(mutex_);
  return counts_;
}

}  // namespace headrace::buffering
