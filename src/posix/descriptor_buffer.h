#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "posix/handler_lock.h"

namespace headrace::posix {

/// Which file a descriptor leads to.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Of a descriptor; false: it leads to none. Keeps errno.
bool find_identity(int descriptor, FileIdentity& found) noexcept;

/// One buffer for the calls on one descriptor: bytes that it holds back from the file, or has read
/// ahead. All I/O goes by offsets, so the kernel's position of the descriptor is not the program's
/// until leave(). Functions return bytes, or a negative errno; they may change errno.
///
/// The functions of the first group are called with the lock. Those of the second may interrupt one
/// of the first in the same thread: they change nothing that it uses but the position. What is held
/// back lies between `head_` and `end_` at any moment, so they may write it once more.
class DescriptorBuffer {
 public:
  HandlerLock lock;

  void start(int descriptor, const FileIdentity& file, bool may_write, ByteCount size) noexcept;
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
  /// cannot be written is lost; its errno is returned.
  int leave() noexcept;

  std::int64_t write_past(const off64_t* offset, std::span<const iovec> parts) noexcept;
  std::int64_t read_past(const off64_t* offset, std::byte* into, std::size_t bytes) noexcept;
  std::int64_t seek_past(off64_t offset, int whence) noexcept;
  int write_held() noexcept;
  void set_kernel_position() noexcept;

  /// Whether the descriptor still leads to its file. If not, flush() and leave() return EBADF.
  bool is_intact() const noexcept;
  int descriptor() const { return descriptor_; }
  const FileIdentity& file() const { return file_; }
  bool may_write() const { return may_write_; }
  off64_t position() const { return position_.load(); }
  std::int64_t held() const { return head_ < end_ ? end_ - head_ : 0; }

  std::int64_t calls[2] = {};  ///< of the program, by direction: reads, writes
  std::int64_t moves[2] = {};  ///< of these, what was asked of the kernel

 private:
  off64_t take(const off64_t* offset, std::size_t done, std::size_t bytes) noexcept;
  bool has_memory() noexcept;
  int make_room(off64_t at) noexcept;
  std::int64_t append(const off64_t* offset, const std::byte* data, std::size_t bytes) noexcept;
  std::int64_t write_through(const off64_t* offset, std::span<const iovec> parts,
                             std::size_t bytes) noexcept;
  std::int64_t move_by_kernel(off64_t offset, int whence) noexcept;
  std::size_t copy_ahead(off64_t at, std::byte* into, std::size_t bytes) noexcept;

  int descriptor_ = -1;
  FileIdentity file_;
  bool may_write_ = false;
  std::int64_t size_ = 0;
  std::byte* memory_ = nullptr;
  std::atomic<off64_t> position_ = 0;  ///< where the program's next call begins
  // Bytes that are held back: the memory's from head_ to end_, of which the first of the memory
  // belongs at begin_. None is kept at limit_ or behind.
  std::atomic<off64_t> begin_ = 0;
  std::atomic<std::int64_t> head_ = 0;
  std::atomic<std::int64_t> end_ = 0;
  std::int64_t limit_ = 0;
  // Bytes that were read ahead: those of the memory's begin, in the file from ahead_begin_ on.
  off64_t ahead_begin_ = 0;
  off64_t ahead_end_ = 0;
  off64_t next_read_ = -1;                 ///< where a sequential reader goes on
  std::atomic<bool> was_written_ = false;  ///< by a handler: what was read ahead is old
};

/// Memory for buffers, of whole pages; null if there is none. The last one is kept for the next.
std::byte* take_buffer_memory(std::int64_t bytes) noexcept;
void give_buffer_memory(std::byte* memory, std::int64_t bytes) noexcept;

}  // namespace headrace::posix
