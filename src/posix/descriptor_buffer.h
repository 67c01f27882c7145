#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "posix/buffer_request.h"
#include "posix/handler_lock.h"
#include "posix/held_blocks.h"

namespace headrace::posix {

/// An errno of a write that no call of the program has returned: a later one does, also if a second
/// try succeeds. Kept only for files that other nodes may reach: NFS tells an error of earlier
/// writes once, and takes the next. Elsewhere what could not be written is what is held back.
class OwedError {
 public:
  void start(bool is_shared) noexcept {
    error_ = 0;
    is_shared_ = is_shared;
  }
  /// The first one is kept. 0 is none.
  void note(int error) noexcept {
    int none = 0;
    if (error != 0 && is_shared_) error_.compare_exchange_strong(none, error);
  }
  int take() noexcept { return error_.load() == 0 ? 0 : error_.exchange(0); }
  /// For a call that has met `error` itself, or none (0), and tells one: nothing is owed
  /// afterwards.
  int told_with(int error) noexcept {
    const int before = take();
    return error != 0 ? error : before;
  }

 private:
  std::atomic<int> error_ = 0;
  bool is_shared_ = false;
};

/// One buffer for the calls on one descriptor: bytes that it holds back from the file, or has read
/// ahead. All I/O goes by offsets, so the kernel's position of the descriptor is not the program's
/// until leave(). Functions return bytes, or a negative errno; they may change errno.
///
/// The functions of the first group are called with the lock. Those of the second may interrupt one
/// of the first in the same thread: they change nothing that it uses but the position, and may
/// write what is held back once more.
class DescriptorBuffer {
 public:
  HandlerLock lock;
  OwedError owed;  ///< for the next write, sync or close

  void start(int descriptor, const FileIdentity& file, bool may_write,
             const BufferShape& shape) noexcept;
  /// Gives the memory back.
  void end() noexcept;

  /// At `offset`, or at the position, if that is null.
  std::int64_t write(const off64_t* offset, std::span<const iovec> parts) noexcept;
  std::int64_t read(const off64_t* offset, std::byte* into, std::size_t bytes) noexcept;
  std::int64_t seek(off64_t offset, int whence) noexcept;
  /// Writes what is held back. An errno, or 0; then what could not be written is still held back.
  int flush() noexcept;
  /// Forgets what was read ahead.
  void drop() noexcept { ahead_begin_ = ahead_end_ = 0; }
  /// Does both, and sets the kernel's position: the descriptor is as without a buffer then. What
  /// cannot be written is lost; its errno is returned, or the one that is owed.
  int leave() noexcept;

  std::int64_t write_from_handler(const off64_t* offset, std::span<const iovec> parts) noexcept;
  std::int64_t read_from_handler(const off64_t* offset, std::byte* into,
                                 std::size_t bytes) noexcept;
  std::int64_t seek_from_handler(off64_t offset, int whence) noexcept;
  int write_held() noexcept;
  void set_kernel_position() noexcept;

  HeldBlocks& held_blocks() noexcept { return held_; }
  /// Whether the descriptor still leads to its file. If not, flush() and leave() return EBADF.
  bool is_intact() const noexcept { return held_.is_intact(); }
  int descriptor() const { return held_.descriptor(); }
  bool may_write() const { return may_write_; }
  off64_t position() const { return position_.load(); }
  std::int64_t held() const noexcept { return held_.held(); }

  std::int64_t calls[2] = {};  ///< of the program, by direction: reads, writes
  /// Of these, what was asked of the kernel.
  std::int64_t moves(int direction) const { return direction == 0 ? reads_ : held_.writes; }

 private:
  off64_t take(const off64_t* offset, std::size_t done, std::size_t bytes) noexcept;
  std::int64_t done_or_failed(std::size_t done, int error) noexcept;
  std::int64_t append(const off64_t* offset, const std::byte* data, std::size_t bytes) noexcept;
  std::int64_t write_through(const off64_t* offset, std::span<const iovec> parts,
                             std::size_t bytes) noexcept;
  std::int64_t move_by_end(off64_t offset, int whence) noexcept;
  std::int64_t move_by_kernel(off64_t offset, int whence) noexcept;
  std::size_t copy_ahead(off64_t at, std::byte* into, std::size_t bytes) noexcept;
  std::int64_t read_ahead(off64_t at, std::size_t bytes) noexcept;

  HeldBlocks held_;
  bool may_write_ = false;
  ByteCount prefetch_ = 0;  ///< bytes
  std::int64_t reads_ = 0;
  std::atomic<off64_t> position_ = 0;  ///< where the program's next call begins
  // Bytes that were read ahead, while nothing is held back: those at the begin of `ahead_`, in the
  // file from ahead_begin_ on.
  const std::byte* ahead_ = nullptr;
  off64_t ahead_begin_ = 0;
  off64_t ahead_end_ = 0;
  off64_t asked_end_ = 0;                  ///< up to here the kernel was asked to read
  off64_t next_read_ = -1;                 ///< where a sequential reader goes on
  std::atomic<bool> was_written_ = false;  ///< by a handler: what was read ahead is old
};

}  // namespace headrace::posix
