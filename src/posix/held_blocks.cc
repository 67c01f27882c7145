#include "posix/held_blocks.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/kept_errno.h"
#include "base/no_cancellation.h"
#include "posix/stand_ins.h"

namespace headrace::posix {
namespace {

constexpr int kMostTries = 100;  ///< of a write that signals interrupt

// A block that gives way costs what three or four small writes cost without buffers. So few gains
// are none, and trying whether that is still so costs 1 % of all.
constexpr int kFew = 3;
constexpr int kMostPoor = 16;
constexpr int kMostPassed = 4096;

std::atomic<std::byte*> spare_memory = nullptr;
std::atomic<std::int64_t> spare_bytes = 0;  ///< of all that are kept there

}  // namespace

int write_range(int descriptor, const std::byte* data, std::int64_t bytes, off64_t at,
                std::int64_t& done) noexcept {
  const NoCancellation uncancelled;  // the caller has a lock
  done = 0;
  for (int tries = 0; done < bytes;) {
    const ssize_t moved =
        real.pwrite64(descriptor, data + done, static_cast<size_t>(bytes - done), at + done);
    if (moved > 0) {
      done += moved;
    } else if (moved == 0) {
      return EIO;
    } else if (errno != EINTR || ++tries == kMostTries) {
      return errno;
    }
  }
  return 0;
}

int find_identity(int descriptor, FileIdentity& found) noexcept {
  const KeptErrno kept;
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return errno;
  found = {status.st_dev, status.st_ino};
  return 0;
}

std::byte* take_buffer_memory(std::int64_t bytes) noexcept {
  if (spare_bytes.load() == bytes) {
    if (std::byte* const kept = spare_memory.exchange(nullptr); kept != nullptr) return kept;
  }
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// Only memory of the first size is kept, so that who takes it knows its size.
void give_buffer_memory(std::byte* memory, std::int64_t bytes) noexcept {
  if (memory == nullptr) return;
  std::int64_t none = 0;
  if (spare_bytes.compare_exchange_strong(none, bytes) || none == bytes) {
    std::byte* empty = nullptr;
    if (spare_memory.compare_exchange_strong(empty, memory)) return;
  }
  ::munmap(memory, static_cast<std::size_t>(bytes));
}

void HeldBlocks::start(int descriptor, const FileIdentity& file, ByteCount size,
                       int count) noexcept {
  descriptor_ = descriptor;
  is_closed_ = false;
  file_ = file;
  size_ = size;
  count_ = std::clamp(count, 1, kMost);
  for (HeldBlock& block : blocks_) {
    block.clear();
    block.used = 0;
    block.gains = 0;
  }
  last_ = &blocks_[0];
  uses_ = 0;
  poor_ = passed_ = 0;
  writes = 0;
}

void HeldBlocks::end() noexcept {
  descriptor_ = -1;
  file_ = {};
  for (HeldBlock& block : blocks_) {
    block.clear();
    give_buffer_memory(std::exchange(block.memory, nullptr), size_);
  }
}

bool HeldBlocks::is_intact() const noexcept {
  if (is_closed_) return false;
  FileIdentity now;
  // A file system that fails, as NFS by ESTALE, says nothing of the descriptor: a write tells it.
  const int error = find_identity(descriptor_, now);
  return error == 0 ? now == file_ : error != EBADF;
}

std::int64_t HeldBlocks::held() const noexcept {
  std::int64_t sum = 0;
  for (const HeldBlock& block : in_use()) sum += block.held();
  return sum;
}

off64_t HeldBlocks::held_end() const noexcept {
  off64_t end = 0;
  for (const HeldBlock& block : in_use()) {
    if (block.held() > 0) end = std::max<off64_t>(end, block.begin + block.end);
  }
  return end;
}

bool HeldBlocks::has_memory(HeldBlock& block) noexcept {
  if (block.memory == nullptr) block.memory = take_buffer_memory(size_);
  return block.memory != nullptr;
}

/// Writes what is held back of a block. An errno, or 0. A handler that interrupts it may write the
/// same, and then others over it in the file: what it has interrupted must not be written after
/// these. So the kernel is told in memory how much to write, which the handler sets to nothing.
int HeldBlocks::write_out(const HeldBlock& block) const noexcept {
  const NoCancellation uncancelled;  // the caller has a lock
  int error = 0;
  for (int tries = 0; error == 0 && block.held() > 0;) {
    std::int64_t from = block.written;
    std::byte* const data = block.memory + from;
    next_ = {data, static_cast<std::size_t>(block.end - from)};
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // A handler that came between may have written this, or begun with another block.
    if (block.written != from || next_.iov_base != data) continue;
    const ssize_t moved = real.pwritev64(descriptor_, &next_, 1, block.begin + from);
    if (moved > 0) {
      block.written.compare_exchange_strong(from, from + moved);
    } else if (block.written != from || next_.iov_len == 0) {
      continue;
    } else if (moved == 0) {
      error = EIO;
    } else if (errno != EINTR || ++tries == kMostTries) {
      error = errno;
    }
  }
  next_.iov_len = 0;
  return error;
}

int HeldBlocks::flush(HeldBlock& block) noexcept {
  if (block.held() > 0) {
    if (!is_intact()) return EBADF;
    writes += 1;
    if (const int error = write_out(block); error != 0) return error;
  }
  block.clear();
  return 0;
}

int HeldBlocks::flush() noexcept {
  int failed = 0;
  for (HeldBlock& block : in_use()) {
    const int error = flush(block);
    if (failed == 0) failed = error;
  }
  return failed;
}

void HeldBlocks::cut(off64_t size) noexcept {
  for (HeldBlock& block : in_use()) {
    if (block.held() == 0 || block.begin + block.end <= size) continue;
    if (block.begin + block.written >= size) {
      block.clear();
    } else {
      block.end = size - block.begin;
    }
  }
}

bool HeldBlocks::passes_next() noexcept {
  if (poor_ < kMostPoor) return false;
  if (passed_++ < kMostPassed) return true;
  poor_ = passed_ = 0;
  return false;
}

/// Empty afterwards; null if that fails.
HeldBlock* HeldBlocks::emptied(HeldBlock* block, int& error) noexcept {
  poor_ = block->gains > kFew ? 0 : poor_ + 1;
  error = flush(*block);
  return error == 0 ? block : nullptr;
}

/// Bytes of one aligned block of the file are in one block at most. A full one is written before
/// another is taken, so that who writes sequentially uses one.
HeldBlock* HeldBlocks::choose(off64_t at, int& error) noexcept {
  HeldBlock* full = nullptr;
  HeldBlock* empty = nullptr;
  HeldBlock* oldest = nullptr;
  for (HeldBlock& block : in_use()) {
    if (block.end == 0) {
      if (empty == nullptr) empty = &block;
    } else if (block.begin / size_ == at / size_) {
      return block.takes(at) ? &block : emptied(&block, error);
    } else {
      if (block.end == block.limit) full = &block;
      if (oldest == nullptr || block.used < oldest->used) oldest = &block;
    }
  }
  if (full != nullptr) return emptied(full, error);
  if (empty != nullptr && has_memory(*empty)) return empty;
  return oldest == nullptr ? nullptr : emptied(oldest, error);
}

HeldBlock* HeldBlocks::room_at(off64_t at, int& error) noexcept {
  error = 0;
  if (!last_->takes(at)) {
    HeldBlock* const found = choose(at, error);
    if (found == nullptr) return nullptr;
    last_ = found;
    if (found->end == 0) {
      // A handler that jumped out of the last flush may have left these.
      found->clear();
      found->gains = 0;
      found->begin = at;
      found->limit = size_ - at % size_;
    }
  }
  last_->used = ++uses_;
  last_->gains += 1;
  return last_;
}

int HeldBlocks::write_from_handler() const noexcept {
  int failed = 0;
  bool is_looked_at = false;
  for (const HeldBlock& block : in_use()) {
    if (block.held() == 0) continue;
    if (!is_looked_at && !is_intact()) return EBADF;
    is_looked_at = true;
    const int error = write_out(block);
    if (failed == 0) failed = error;
  }
  return failed;
}

}  // namespace headrace::posix
