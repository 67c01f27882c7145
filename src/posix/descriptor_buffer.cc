#include "posix/descriptor_buffer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/no_cancellation.h"
#include "posix/stand_ins.h"

namespace headrace::posix {
namespace {

/// Behind this, file systems have their own answers.
constexpr off64_t kFarthest = off64_t{1} << 50;

/// What a write of ours has come to: bytes, or a negative errno.
std::int64_t outcome(ssize_t done) {
  return done >= 0 ? done : -static_cast<std::int64_t>(errno);
}

/// -1: more than a call may move.
std::int64_t bytes_of(std::span<const iovec> parts) {
  std::int64_t bytes = 0;
  for (const iovec& one : parts) {
    if (__builtin_add_overflow(bytes, one.iov_len, &bytes)) return -1;
  }
  return bytes;
}

}  // namespace

void DescriptorBuffer::start(int descriptor, const FileIdentity& file, bool may_write,
                             const BufferShape& shape) noexcept {
  held_.start(descriptor, file, shape.size, shape.count);
  may_write_ = may_write;
  prefetch_ = shape.prefetch * shape.size;
  const off64_t now = ::lseek64(descriptor, 0, SEEK_CUR);
  position_ = std::max<off64_t>(now, 0);
  drop();
  next_read_ = -1;
  asked_end_ = 0;
  calls[0] = calls[1] = reads_ = 0;
}

void DescriptorBuffer::end() noexcept {
  held_.end();
}

/// Where the next bytes of a call go. Moves the position over them, in one step.
off64_t DescriptorBuffer::take(const off64_t* offset, std::size_t done,
                               std::size_t bytes) noexcept {
  if (offset != nullptr) return *offset + static_cast<off64_t>(done);
  return position_.fetch_add(static_cast<off64_t>(bytes));
}

int DescriptorBuffer::flush() noexcept {
  return held_.flush();
}

/// A call that has taken some bytes cannot tell its error.
std::int64_t DescriptorBuffer::done_or_failed(std::size_t done, int error) noexcept {
  if (done == 0) return -error;
  owed.note(error);
  return static_cast<std::int64_t>(done);
}

std::int64_t DescriptorBuffer::append(const off64_t* offset, const std::byte* data,
                                      std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const off64_t next = offset != nullptr ? take(offset, done, 0) : position_.load();
    int error = 0;
    HeldBlock* const block = held_.room_at(next, error);
    if (block == nullptr) return done_or_failed(done, error != 0 ? error : ENOMEM);
    const auto room = static_cast<std::size_t>(block->limit - block->end);
    const std::size_t piece = std::min(bytes - done, room);
    const off64_t at = take(offset, done, piece);
    if (at == block->begin + block->end) {
      std::memcpy(block->memory + block->end, data + done, piece);
      block->end += static_cast<std::int64_t>(piece);
      done += piece;
      continue;
    }
    // A handler has moved the position meanwhile. What is held back was written before.
    std::int64_t moved = 0;
    error = flush();
    if (error == 0)
      error = write_range(descriptor(), data + done, static_cast<std::int64_t>(piece), at, moved);
    done += static_cast<std::size_t>(moved);
    if (error == 0) continue;
    position_ -= static_cast<off64_t>(piece) - moved;
    return done_or_failed(done, error);
  }
  return static_cast<std::int64_t>(done);
}

std::int64_t DescriptorBuffer::write_through(const off64_t* offset, std::span<const iovec> parts,
                                             std::size_t bytes) noexcept {
  const off64_t at = take(offset, 0, bytes);
  const NoCancellation uncancelled;
  held_.writes += 1;
  const std::int64_t done =
      held_.is_closed()
          ? -EBADF
          : outcome(real.pwritev64(descriptor(), parts.data(), static_cast<int>(parts.size()), at));
  if (offset == nullptr) position_ -= static_cast<off64_t>(bytes) - std::max<off64_t>(done, 0);
  return done;
}

std::int64_t DescriptorBuffer::write(const off64_t* offset, std::span<const iovec> parts) noexcept {
  if (!may_write_) return -EBADF;
  calls[1] += 1;
  const std::int64_t bytes = bytes_of(parts);
  if (bytes < 0) return -EINVAL;
  if (const int error = owed.take(); error != 0) return -error;
  const off64_t at = offset != nullptr ? *offset : position_.load();
  drop();
  if (bytes >= held_.size() || at < 0 || at > kFarthest || held_.passes_next() ||
      held_.idle_memory() == nullptr) {
    if (const int error = flush(); error != 0) return -error;
    return write_through(offset, parts, static_cast<std::size_t>(bytes));
  }
  off64_t next = at;
  std::int64_t done = 0;
  for (const iovec& one : parts) {
    const std::int64_t moved = append(offset == nullptr ? nullptr : &next,
                                      static_cast<const std::byte*>(one.iov_base), one.iov_len);
    if (moved < 0) return done_or_failed(static_cast<std::size_t>(done), static_cast<int>(-moved));
    done += moved;
    next += moved;
    if (moved < static_cast<std::int64_t>(one.iov_len)) break;
  }
  return done;
}

std::size_t DescriptorBuffer::copy_ahead(off64_t at, std::byte* into, std::size_t bytes) noexcept {
  if (at < ahead_begin_ || at >= ahead_end_) return 0;
  const std::size_t piece = std::min(bytes, static_cast<std::size_t>(ahead_end_ - at));
  std::memcpy(into, ahead_ + (at - ahead_begin_), piece);
  return piece;
}

/// Reads the rest of the block that `at` lies in. Bytes, or a negative errno.
std::int64_t DescriptorBuffer::read_ahead(off64_t at, std::size_t bytes) noexcept {
  std::byte* const memory = held_.idle_memory();
  const std::int64_t got = outcome(real.pread64(descriptor(), memory, bytes, at));
  ahead_ = memory;
  ahead_begin_ = at;
  ahead_end_ = at + std::max<std::int64_t>(got, 0);
  if (prefetch_ == 0 || got < static_cast<std::int64_t>(bytes)) return got;
  // The kernel reads on by itself while the program uses these, and nobody waits for it. It does
  // little for one call (force_page_cache_ra), so it is asked in parts.
  constexpr off64_t kPart = off64_t{128} << 10;
  const off64_t wanted = ahead_end_ + prefetch_;
  off64_t& asked = asked_end_;
  // What lies between these two was asked for just before, or at another place of the file.
  if (asked < ahead_end_ || asked > wanted) asked = ahead_end_;
  for (; asked < wanted; asked += kPart) {
    ::posix_fadvise64(descriptor(), asked, kPart, POSIX_FADV_WILLNEED);
  }
  return got;
}

/// Reads ahead only of who goes on where the last call ended. What was read ahead serves only such
/// calls, so who reads a place once more sees what is there then.
std::int64_t DescriptorBuffer::read(const off64_t* offset, std::byte* into,
                                    std::size_t bytes) noexcept {
  calls[0] += 1;
  if (const int error = flush(); error != 0) return -error;
  if (was_written_.exchange(false)) drop();
  const off64_t at = take(offset, 0, bytes);
  const bool is_sequential = at == next_read_;
  if (!is_sequential) drop();
  std::size_t done = copy_ahead(at, into, bytes);
  std::int64_t result = 0;
  if (done < bytes) {
    const NoCancellation uncancelled;
    const off64_t rest = at + static_cast<off64_t>(done);
    const auto block = static_cast<std::size_t>(held_.size() - rest % held_.size());
    reads_ += 1;
    if (is_sequential && bytes - done < block && rest < kFarthest &&
        held_.idle_memory() != nullptr) {
      result = read_ahead(rest, block);
      done += copy_ahead(rest, into + done, bytes - done);
    } else {
      result = outcome(real.pread64(descriptor(), into + done, bytes - done, rest));
      done += static_cast<std::size_t>(std::max<std::int64_t>(result, 0));
    }
  }
  if (offset == nullptr) position_ -= static_cast<off64_t>(bytes - done);
  next_read_ = at + static_cast<off64_t>(done);
  return done == 0 && result < 0 ? result : static_cast<std::int64_t>(done);
}

std::int64_t DescriptorBuffer::seek(off64_t offset, int whence) noexcept {
  if (whence == SEEK_SET || whence == SEEK_CUR) {
    const off64_t from = whence == SEEK_SET ? 0 : position_.load();
    off64_t target = 0;
    if (__builtin_add_overflow(from, offset, &target)) return -EOVERFLOW;
    if (target < 0) return -EINVAL;
    if (target <= kFarthest) {
      position_ = target;
      return target;
    }
    offset = target;
    whence = SEEK_SET;
  }
  if (const int error = flush(); error != EBADF) owed.note(error);
  return move_by_end(offset, whence);
}

std::int64_t DescriptorBuffer::seek_from_handler(off64_t offset, int whence) noexcept {
  owed.note(write_held());
  if (whence == SEEK_CUR) {
    offset += position_.load();
    whence = SEEK_SET;
  }
  return move_by_end(offset, whence);
}

/// What could not be written belongs to the file, too: who goes to its end must not write over it.
std::int64_t DescriptorBuffer::move_by_end(off64_t offset, int whence) noexcept {
  const off64_t end = whence == SEEK_END ? held_.held_end() : 0;
  struct stat64 status{};
  if (end == 0 || ::fstat64(descriptor(), &status) != 0 || end <= status.st_size) {
    return move_by_kernel(offset, whence);
  }
  off64_t target = 0;
  if (__builtin_add_overflow(end, offset, &target)) return -EOVERFLOW;
  return move_by_kernel(target, SEEK_SET);
}

std::int64_t DescriptorBuffer::move_by_kernel(off64_t offset, int whence) noexcept {
  const std::int64_t position = outcome(real.lseek64(descriptor(), offset, whence));
  if (position >= 0) position_ = position;
  return position;
}

int DescriptorBuffer::leave() noexcept {
  drop();
  const int error = owed.told_with(flush());
  set_kernel_position();
  return error;
}

void DescriptorBuffer::set_kernel_position() noexcept {
  if (is_intact()) ::lseek64(descriptor(), position_.load(), SEEK_SET);
}

int DescriptorBuffer::write_held() noexcept {
  return held_.write_from_handler();
}

std::int64_t DescriptorBuffer::write_from_handler(const off64_t* offset,
                                                  std::span<const iovec> parts) noexcept {
  was_written_ = true;
  const std::int64_t bytes = bytes_of(parts);
  if (bytes < 0) return -EINVAL;
  if (const int error = owed.take(); error != 0) return -error;
  if (const int error = write_held(); error != 0) return -error;
  return write_through(offset, parts, static_cast<std::size_t>(bytes));
}

std::int64_t DescriptorBuffer::read_from_handler(const off64_t* offset, std::byte* into,
                                                 std::size_t bytes) noexcept {
  if (const int error = write_held(); error != 0) return -error;
  const NoCancellation uncancelled;
  const off64_t at = take(offset, 0, bytes);
  const std::int64_t done = outcome(real.pread64(descriptor(), into, bytes, at));
  if (offset == nullptr) position_ -= static_cast<off64_t>(bytes) - std::max<off64_t>(done, 0);
  return done;
}

}  // namespace headrace::posix
