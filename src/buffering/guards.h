#pragma once

#include <condition_variable>
#include <mutex>

#include "buffering/block.h"

namespace headrace::buffering {

// A thread may be cancelled, or a signal's handler may throw, while the store moves bytes. Then
// these leave the blocks to the other threads. A block that was being written is written again.

/// No other thread touches the block while this lives. Made and ended with the lock.
class BusyBlock {
 public:
  BusyBlock(Block& block, std::condition_variable_any& changed) : block_(block), changed_(changed) {
    block_.is_busy = true;
  }
  ~BusyBlock() {
    block_.is_busy = false;
    changed_.notify_all();
  }
  BusyBlock(const BusyBlock&) = delete;
  BusyBlock& operator=(const BusyBlock&) = delete;

 private:
  Block& block_;
  std::condition_variable_any& changed_;
};

/// Gives the lock up while it lives.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::timed_mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::timed_mutex>& lock_;
};

}  // namespace headrace::buffering
