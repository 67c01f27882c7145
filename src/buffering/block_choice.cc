// Which block serves a call, and what helper threads do.
#include <algorithm>
#include <cerrno>

#include "base/settings.h"
#include "buffering/block_cache.h"
#include "buffering/guards.h"

namespace headrace::buffering {

using storage::Transferred;

/// The block's range of the file that holds `offset`.
Range BlockCache::range_of(FileOffset offset) const {
  const FileOffset begin = offset - offset % shape_.size;
  return {begin, begin + shape_.size};
}

Block* BlockCache::find(FileOffset offset) {
  const FileOffset begin = range_of(offset).begin;
  if (last_ != nullptr && last_->begin == begin) return last_;
  const auto found = std::ranges::find(blocks_, begin, &Block::begin);
  return found == blocks_.end() ? nullptr : last_ = &*found;
}

/// The block of `offset`, once no other thread moves its bytes; null: there is none.
Block* BlockCache::find_idle(Lock& lock, FileOffset offset) {
  for (;;) {
    Block* const block = find(offset);
    if (block == nullptr || !block->is_busy) return block;
    await_change(lock);
  }
}

/// The idle block that was used longest ago, one without bytes to write if there is one. Null:
/// none.
Block* BlockCache::victim(bool may_be_dirty) {
  Block* best = nullptr;
  for (Block& block : blocks_) {
    if (block.is_busy || (!may_be_dirty && !block.dirty.is_empty())) continue;
    const auto rank = [](const Block& one) {
      return std::pair(!one.dirty.is_empty(), one.begin == Block::kFree ? 0 : one.used);
    };
    if (best == nullptr || rank(block) < rank(*best)) best = &block;
  }
  return best;
}

/// Any idle block that has memory and holds nothing back. Null: none.
Block* BlockCache::idle_with_memory() {
  const auto found = std::ranges::find_if(blocks_, [](const Block& block) {
    return !block.is_busy && block.dirty.is_empty() && block.memory.data() != nullptr;
  });
  return found == blocks_.end() ? nullptr : &*found;
}

/// The block of `offset`, idle, made if there is none. Null: without memory, or with an error of
/// what had to be written before.
Block* BlockCache::claim(Lock& lock, FileOffset offset, int& error) {
  for (;;) {
    Block* block = find_idle(lock, offset);
    if (block == nullptr) {
      block = victim(true);
      if (block == nullptr) {
        await_change(lock);
        continue;
      }
      if (!block->dirty.is_empty()) {
        // Another thread may have made the block meanwhile.
        error = write_out(lock, *block);
        if (error != 0) return nullptr;
        continue;
      }
      if (!block->memory.has(shape_.size)) block = idle_with_memory();
      if (block == nullptr) return nullptr;
      block->forget();
      block->begin = range_of(offset).begin;
      last_ = block;
    }
    block->used = ++uses_;
    return block;
  }
}

/// Lets helper threads read the blocks behind that of `offset`, as far as blocks are free for it.
void BlockCache::read_ahead(FileOffset offset) {
  const Range current = range_of(offset);
  for (std::int64_t i = 1; i <= shape_.prefetch; ++i) {
    const FileOffset begin = current.begin + i * shape_.size;
    if (end_seen_ >= 0 && begin >= end_seen_) return;
    if (std::ranges::find(blocks_, begin, &Block::begin) != blocks_.end()) continue;
    Block* const block = victim(false);
    const bool is_needed =
        block != nullptr && block->begin >= current.begin && block->begin < begin;
    if (block == nullptr || is_needed || !block->memory.has(shape_.size)) return;
    block->forget();
    block->begin = begin;
    block->used = ++uses_;
    if (!hand_over(*block, Direction::read)) return block->forget();
  }
}

/// Gives an idle block to a helper thread. False if there is none: then nothing has happened.
bool BlockCache::hand_over(Block& block, Direction direction) {
  handed_.push_back({&block, direction});  // within its capacity
  block.is_busy = true;
  const std::int64_t most = std::min(shape_.count, settings().helper_threads);
  if (jobs_ < most && threads::HelperThreads::of_process().run(shared_from_this())) ++jobs_;
  if (jobs_ > 0) return true;
  handed_.pop_back();
  block.is_busy = false;
  return false;
}

/// Waits until a block may have stopped being busy. What no helper thread has begun is left to this
/// one: helper threads begin nothing while the program exits.
void BlockCache::await_change(Lock& lock) {
  if (!handed_.empty()) return take_back();
  changed_.wait(lock);
}

/// Takes back what no helper thread has begun.
void BlockCache::take_back() {
  for (const Task& task : handed_) {
    task.block->is_busy = false;
    if (task.direction == Direction::read) task.block->forget();
  }
  handed_.clear();
  changed_.notify_all();
}

void BlockCache::work() noexcept {
  Lock lock(mutex_);
  while (!handed_.empty()) {
    const Task task = handed_.front();
    handed_.erase(handed_.begin());
    if (task.direction == Direction::read) {
      fill_ahead(lock, *task.block);
    } else {
      note_behind(write_out(lock, *task.block));
    }
  }
  jobs_ -= 1;
  changed_.notify_all();
}

/// The reader finds errors, and the end of the file, by itself.
void BlockCache::fill_ahead(Lock& lock, Block& block) {
  const BusyBlock busy(block, changed_);
  const Range range = range_of(block.begin);
  const Transferred got = move_unlocked(lock, Direction::read, range, block.memory.data());
  block.known = {range.begin, range.begin + got.bytes};
  block.is_ahead = true;
  counts_.blocks_read += 1;
  counts_.ahead += got.bytes > 0 ? 1 : 0;
  if (got.bytes < range.bytes() && got.system_error == 0) end_seen_ = block.known.end;
  if (got.bytes == 0) block.forget();
}

}  // namespace headrace::buffering
