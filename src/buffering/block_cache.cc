#include "buffering/block_cache.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "buffering/guards.h"

namespace headrace::buffering {

using storage::Transferred;

namespace {

constexpr Range kAll{0, std::numeric_limits<FileOffset>::max()};

ByteCount bytes_of(std::span<const iovec> segments) {
  ByteCount bytes = 0;
  for (const iovec& segment : segments) bytes += static_cast<ByteCount>(segment.iov_len);
  return bytes;
}

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
    : store_(store), shape_(shape), blocks_(static_cast<std::size_t>(shape.count)) {
  handed_.reserve(blocks_.size());
}

Transferred BlockCache::write(FileOffset offset, std::span<const iovec> segments) {
  const ByteCount bytes = bytes_of(segments);
  if (bytes >= shape_.size) return pass(Direction::write, offset, bytes, segments);
  Lock lock(mutex_);
  counts_.writes += 1;
  end_seen_ = -1;
  if (has_failed_behind_) [[unlikely]] {
    if (const int error = write_all(lock, kAll)) return {0, error};
    has_failed_behind_ = false;
  }
  Transferred done;
  for_each_piece(offset, segments, shape_.size, [&](const Range& piece, std::byte* memory) {
    done.system_error = put(lock, piece, memory);
    if (done.system_error == 0) done.bytes += piece.bytes();
    return done.system_error == 0;
  });
  return done;
}

Transferred BlockCache::read(FileOffset offset, std::span<const iovec> segments) {
  const ByteCount bytes = bytes_of(segments);
  if (bytes >= shape_.size) return pass(Direction::read, offset, bytes, segments);
  Lock lock(mutex_);
  counts_.reads += 1;
  const bool is_sequential = offset == next_read_;
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
/// meanwhile, so these are forgotten afterwards, too.
Transferred BlockCache::pass(Direction direction, FileOffset offset, ByteCount bytes,
                             std::span<const iovec> segments) {
  const Range range{offset, offset + bytes};
  {
    Lock lock(mutex_);
    counts_.large += 1;
    if (const int error = write_all(lock, direction == Direction::write ? range : kAll)) {
      return {0, error};
    }
  }
  if (direction == Direction::read) return store_.read(offset, segments);
  const Transferred done = store_.write(offset, segments);
  Lock lock(mutex_);
  end_seen_ = -1;
  forget(lock, range);
  return done;
}

/// Puts bytes of one block there. Without memory for it, they go to the store.
int BlockCache::put(Lock& lock, const Range& piece, const std::byte* data) {
  int error = 0;
  Block* const block = claim(lock, piece.begin, error);
  if (error != 0) return error;
  if (block == nullptr) {
    const Transferred done = move(Direction::write, piece, const_cast<std::byte*>(data));
    return done.bytes < piece.bytes() && done.system_error == 0 ? EIO : done.system_error;
  }
  if (!block->dirty.joins(piece)) {
    error = write_out(lock, *block);
    if (error != 0) return error;
  }
  std::memcpy(block->at(piece.begin), data, static_cast<std::size_t>(piece.bytes()));
  block->known = block->known.joins(piece) ? block->known.with(piece) : piece;
  block->dirty = block->dirty.with(piece);
  const bool is_at_end = block->dirty.end == block->begin + shape_.size;
  if (is_at_end && !hand_over(*block, Direction::write)) {
    // The bytes are taken: if they cannot be written, a later call tells.
    if (write_out(lock, *block) != 0) has_failed_behind_ = true;
  }
  return 0;
}

/// Gets bytes of one block. Fewer without an error: the file ends there.
Transferred BlockCache::get(Lock& lock, const Range& piece, std::byte* data, bool is_sequential) {
  Transferred done;
  for (bool has_filled = false;; has_filled = true) {
    Block* block = find_idle(lock, piece.begin);
    const FileOffset from = piece.begin + done.bytes;
    if (block != nullptr && block->known.contains(from)) {
      const ByteCount bytes = std::min(piece.end, block->known.end) - from;
      std::memcpy(data + done.bytes, block->at(from), static_cast<std::size_t>(bytes));
      done.bytes += bytes;
      block->used = ++uses_;
      if (std::exchange(block->is_ahead, false)) counts_.ahead_used += 1;
      if (done.bytes == piece.bytes()) return done;
    }
    if (has_filled) return done;
    if (is_sequential) block = claim(lock, piece.begin, done.system_error);
    if (done.system_error != 0) return done;
    if (!is_sequential || block == nullptr) {
      const Range rest{piece.begin + done.bytes, piece.end};
      const Transferred got = read_singly(lock, rest, data + done.bytes);
      return {done.bytes + got.bytes, got.system_error};
    }
    done.system_error = fill(lock, *block, piece.begin + done.bytes);
    if (done.system_error != 0) return done;
  }
}

/// Reads bytes that are not worth a block.
Transferred BlockCache::read_singly(Lock& lock, const Range& piece, std::byte* data) {
  counts_.single_reads += 1;
  if (const int error = write_all(lock, piece)) return {0, error};
  return read_range(lock, piece, data);
}

/// Reads a block's bytes from `from` on. Returns an errno, or 0.
int BlockCache::fill(Lock& lock, Block& block, FileOffset from) {
  if (const int error = write_out(lock, block)) return error;
  const Range range{from, block.begin + shape_.size};
  Transferred got;
  {
    const BusyBlock busy(block, changed_);
    got = read_range(lock, range, block.at(from));
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
Transferred BlockCache::read_range(Lock& lock, const Range& range, std::byte* memory) {
  Transferred got = move_unlocked(lock, Direction::read, range, memory);
  if (got.system_error != 0 || got.bytes == range.bytes()) return got;
  bool has_more = false;
  for (const Block& block : blocks_)
    has_more = has_more || block.dirty.end > range.begin + got.bytes;
  if (!has_more) return got;
  if (const int error = write_all(lock, kAll)) return {got.bytes, error};
  const Range rest{range.begin + got.bytes, range.end};
  const Transferred more = move_unlocked(lock, Direction::read, rest, memory + got.bytes);
  return {got.bytes + more.bytes, more.system_error};
}

Transferred BlockCache::move_unlocked(Lock& lock, Direction direction, const Range& range,
                                      std::byte* memory) {
  const Unlocked open(lock);
  return move(direction, range, memory);
}

Transferred BlockCache::move(Direction direction, const Range& range, std::byte* memory) {
  const iovec segment{memory, static_cast<std::size_t>(range.bytes())};
  try {
    return direction == Direction::write ? store_.write(range.begin, {&segment, 1})
                                         : store_.read(range.begin, {&segment, 1});
  } catch (const std::bad_alloc&) {
    return {0, ENOMEM};
  }
}

/// Writes what an idle block holds back. Returns an errno, or 0. The block stays idle for others
/// only when this has returned.
int BlockCache::write_out(Lock& lock, Block& block) {
  if (block.dirty.is_empty()) return 0;
  const BusyBlock busy(block, changed_);
  const Range range = block.dirty;
  const Transferred done = move_unlocked(lock, Direction::write, range, block.at(range.begin));
  counts_.blocks_written += 1;
  block.dirty.begin += done.bytes;
  if (block.dirty.is_empty()) block.dirty = {};
  if (block.dirty.is_empty()) return 0;
  return done.system_error != 0 ? done.system_error : EIO;
}

/// Writes what the blocks hold back of the range, of each block all. Returns the first errno, or 0.
int BlockCache::write_all(Lock& lock, const Range& range) {
  int failed = 0;
  for (Block& block : blocks_) {
    // A block that is busy with reading has nothing to write.
    while (block.is_busy && !block.dirty.is_empty()) await_change(lock);
    if (!block.dirty.overlaps(range)) continue;
    const int error = write_out(lock, block);
    if (failed == 0) failed = error;
  }
  return failed;
}

/// Forgets what the blocks know of the range, but for what they hold back.
void BlockCache::forget(Lock& lock, const Range& range) {
  for (Block& block : blocks_) {
    while (block.is_busy) await_change(lock);
    if (!block.known.overlaps(range)) continue;
    block.known = block.dirty;
    if (block.known.is_empty()) block.forget();
  }
}

int BlockCache::flush() {
  Lock lock(mutex_);
  return write_all(lock, kAll);
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
  return failed;
}

ByteCount BlockCache::settle_within(std::chrono::milliseconds patience) {
  if (!process_.is_here()) return 0;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Lock lock(mutex_, deadline);
  ByteCount left = 0;
  if (lock) take_back();
  for (Block& block : blocks_) {
    const bool is_idle =
        lock && changed_.wait_until(lock, deadline, [&] { return !block.is_busy; });
    if (is_idle) write_out(lock, block);
    left += block.dirty.bytes();
  }
  return left;
}

void BlockCache::leave() {
  if (!process_.is_here()) return;
  Lock lock(mutex_);
  while (!handed_.empty() || working_ > 0) await_change(lock);
}

BufferCounts BlockCache::counts() const {
  const Lock lock(mutex_);
  return counts_;
}

}  // namespace headrace::buffering
