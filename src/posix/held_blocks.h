#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace headrace::posix {

/// Which file a descriptor leads to.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Of a descriptor. An errno, or 0; EBADF: it leads to none. Keeps errno.
int find_identity(int descriptor, FileIdentity& found) noexcept;

/// Writes [data, data + bytes) to `at`. Sets `done`; returns an errno, or 0.
int write_range(int descriptor, const std::byte* data, std::int64_t bytes, off64_t at,
                std::int64_t& done) noexcept;

/// Memory for buffers, of whole pages; null if there is none. The last one is kept for the next.
std::byte* take_buffer_memory(std::int64_t bytes) noexcept;
void give_buffer_memory(std::byte* memory, std::int64_t bytes) noexcept;

/// Bytes that are held back from one aligned block of a file: those of the memory from `written` to
/// `end`, of which the first of the memory belongs at `begin`. None is kept at `limit` or behind.
/// Those before `written` are in the file, where a handler may have written others over them.
struct HeldBlock {
  std::byte* memory = nullptr;
  std::atomic<off64_t> begin = 0;
  mutable std::atomic<std::int64_t> written = 0;
  std::atomic<std::int64_t> end = 0;
  std::int64_t limit = 0;
  std::uint64_t used = 0;  ///< when it got bytes last, in times that any block did
  int gains = 0;           ///< how often it got bytes

  /// Nothing is held back. In this order, for a handler that interrupts it.
  void clear() noexcept {
    end = 0;
    written = 0;
  }
  std::int64_t held() const { return std::max<std::int64_t>(end - written, 0); }
  bool takes(off64_t at) const { return end > 0 && end < limit && at == begin + end; }
};

/// What a descriptor's buffer holds back: blocks that never overlap. A handler may interrupt any of
/// these functions and call write_from_handler(): what is held back lies between `written` and
/// `end` of each block at any moment.
class HeldBlocks {
 public:
  static constexpr int kMost = 16;

  void start(int descriptor, const FileIdentity& file, ByteCount size, int count) noexcept;
  /// Gives the memory back.
  void end() noexcept;

  /// The block that may take bytes of offset `at` next, some at least. Null: there is no memory, or
  /// `error` says why others that had to give way could not be written.
  HeldBlock* room_at(off64_t at, int& error) noexcept;
  /// Whether the next write had better go to the file at once: blocks had to give way again and
  /// again with the bytes of a few writes each. Many go past then, before it is tried anew.
  bool passes_next() noexcept;
  /// Writes all. An errno, or 0; then what could not be written is still held back.
  int flush() noexcept;
  /// The file was cut to so many bytes: forgets what could not be written behind them.
  void cut(off64_t size) noexcept;
  /// Writes all, now or once more. An errno, or 0.
  int write_from_handler() const noexcept;

  /// Memory of a block, while nothing is held back; null if there is none.
  std::byte* idle_memory() noexcept { return has_memory(blocks_[0]) ? blocks_[0].memory : nullptr; }

  /// A handler is about to close the descriptor: what comes now must not go to its number.
  void close() noexcept { is_closed_ = true; }
  bool is_closed() const noexcept { return is_closed_; }
  /// Calls write(data, bytes, offset), which returns how many bytes it has written, for what is
  /// held back, until one is short. Nothing is held back then. Returns the sum.
  template <class Write>
  std::int64_t hand_over(Write write) noexcept {
    std::int64_t sum = 0;
    bool is_short = false;
    for (HeldBlock& block : in_use()) {
      const std::int64_t from = block.written;
      const std::int64_t bytes = block.held();
      if (bytes > 0 && !is_short) {
        const std::int64_t done = write(block.memory + from, bytes, block.begin + from);
        sum += done;
        is_short = done < bytes;
      }
      block.clear();
    }
    return sum;
  }

  /// Whether the descriptor still leads to its file, as far as the file system tells. If not,
  /// flush() returns EBADF.
  bool is_intact() const noexcept;
  int descriptor() const { return descriptor_; }
  const FileIdentity& file() const { return file_; }
  std::int64_t size() const { return size_; }  ///< of a block
  std::int64_t held() const noexcept;
  /// Where what is held back ends in the file; 0 if nothing is.
  off64_t held_end() const noexcept;

  std::int64_t writes = 0;  ///< what was asked of the kernel

 private:
  std::span<HeldBlock> in_use() noexcept {
    return {blocks_.data(), static_cast<std::size_t>(count_)};
  }
  std::span<const HeldBlock> in_use() const noexcept {
    return {blocks_.data(), static_cast<std::size_t>(count_)};
  }
  bool has_memory(HeldBlock& block) noexcept;
  int flush(HeldBlock& block) noexcept;
  int write_out(const HeldBlock& block) const noexcept;
  HeldBlock* emptied(HeldBlock* block, int& error) noexcept;
  HeldBlock* choose(off64_t at, int& error) noexcept;

  int descriptor_ = -1;
  std::atomic<bool> is_closed_ = false;
  FileIdentity file_;
  std::int64_t size_ = 0;
  int count_ = 1;
  HeldBlock* last_ = &blocks_[0];  ///< that got bytes last
  mutable iovec next_{};           ///< what write_out() asks of the kernel
  std::uint64_t uses_ = 0;
  int poor_ = 0;    ///< blocks in a row that had to give way with the bytes of a few writes
  int passed_ = 0;  ///< writes, since there were too many of these
  std::array<HeldBlock, kMost> blocks_{};
};

}  // namespace headrace::posix
