#include "posix/descriptor_buffer.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/kept_errno.h"
#include "base/no_cancellation.h"
#include "posix/functions.h"

namespace headrace::posix {
namespace {

constexpr int kMostTries = 100;  ///< of a write that signals interrupt
/// Behind this, file systems have their own answers.
constexpr off64_t kFarthest = off64_t{1} << 50;

/// What a write of ours has come to: bytes, or a negative errno.
std::int64_t outcome(ssize_t done) {
  return done >= 0 ? done : -static_cast<std::int64_t>(errno);
}

/// Writes [data, data + bytes) to `at`. Sets `done`; returns an errno, or 0.
int write_range(int descriptor, const std::byte* data, std::int64_t bytes, off64_t at,
                std::int64_t& done) {
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

std::size_t bytes_of(std::span<const iovec> parts) {
  std::size_t bytes = 0;
  for (const iovec& one : parts) bytes += one.iov_len;
  return bytes;
}

std::atomic<std::byte*> spare_memory = nullptr;
std::atomic<std::int64_t> spare_bytes = 0;  ///< of all that are kept there

}  // namespace

bool find_identity(int descriptor, FileIdentity& found) noexcept {
  const KeptErrno kept;
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return false;
  found = {status.st_dev, status.st_ino};
  return true;
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

void DescriptorBuffer::start(int descriptor, const FileIdentity& file, bool may_write,
                             ByteCount size) noexcept {
  descriptor_ = descriptor;
  file_ = file;
  may_write_ = may_write;
  size_ = size;
  const off64_t now = ::lseek64(descriptor, 0, SEEK_CUR);
  position_ = std::max<off64_t>(now, 0);
  end_ = 0;
  head_ = 0;
  drop();
  next_read_ = -1;
  calls[0] = calls[1] = moves[0] = moves[1] = 0;
}

void DescriptorBuffer::end() noexcept {
  descriptor_ = -1;
  file_ = {};
  give_buffer_memory(memory_, size_);
  memory_ = nullptr;
}

bool DescriptorBuffer::is_intact() const noexcept {
  FileIdentity now;
  return find_identity(descriptor_, now) && now == file_;
}

bool DescriptorBuffer::has_memory() noexcept {
  if (memory_ == nullptr) memory_ = take_buffer_memory(size_);
  return memory_ != nullptr;
}

/// Where the next bytes of a call go. Moves the position over them, in one step.
off64_t DescriptorBuffer::take(const off64_t* offset, std::size_t done,
                               std::size_t bytes) noexcept {
  if (offset != nullptr) return *offset + static_cast<off64_t>(done);
  return position_.fetch_add(static_cast<off64_t>(bytes));
}

int DescriptorBuffer::flush() noexcept {
  if (held() > 0) {
    if (!is_intact()) return EBADF;
    std::int64_t done = 0;
    const int error = write_range(descriptor_, memory_ + head_, end_ - head_, begin_ + head_, done);
    moves[1] += 1;
    head_ += done;
    if (error != 0) return error;
  }
  end_ = 0;
  head_ = 0;
  return 0;
}

/// Lets bytes of offset `at` follow those that are held back.
int DescriptorBuffer::make_room(off64_t at) noexcept {
  drop();
  if (end_ > 0 && (at != begin_ + end_ || end_ == limit_)) {
    if (const int error = flush(); error != 0) return error;
  }
  if (end_ == 0) {
    begin_ = at;
    limit_ = size_ - at % size_;
  }
  return 0;
}

std::int64_t DescriptorBuffer::append(const off64_t* offset, const std::byte* data,
                                      std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const off64_t next = offset != nullptr ? take(offset, done, 0) : position_.load();
    if (const int error = make_room(next); error != 0) {
      return done > 0 ? static_cast<std::int64_t>(done) : -error;
    }
    const std::size_t piece = std::min(bytes - done, static_cast<std::size_t>(limit_ - end_));
    const off64_t at = take(offset, done, piece);
    if (at == begin_ + end_) {
      std::memcpy(memory_ + end_, data + done, piece);
      end_ += static_cast<std::int64_t>(piece);
      done += piece;
      continue;
    }
    // A handler has moved the position meanwhile.
    std::int64_t moved = 0;
    const int error =
        write_range(descriptor_, data + done, static_cast<std::int64_t>(piece), at, moved);
    done += static_cast<std::size_t>(moved);
    if (error == 0) continue;
    position_ -= static_cast<off64_t>(piece) - moved;
    return done > 0 ? static_cast<std::int64_t>(done) : -error;
  }
  return static_cast<std::int64_t>(done);
}

std::int64_t DescriptorBuffer::write_through(const off64_t* offset, std::span<const iovec> parts,
                                             std::size_t bytes) noexcept {
  const off64_t at = take(offset, 0, bytes);
  const NoCancellation uncancelled;
  moves[1] += 1;
  const std::int64_t done =
      outcome(real.pwritev64(descriptor_, parts.data(), static_cast<int>(parts.size()), at));
  if (offset == nullptr) position_ -= static_cast<off64_t>(bytes) - std::max<off64_t>(done, 0);
  return done;
}

std::int64_t DescriptorBuffer::write(const off64_t* offset, std::span<const iovec> parts) noexcept {
  if (!may_write_) return -EBADF;
  calls[1] += 1;
  const std::size_t bytes = bytes_of(parts);
  const off64_t at = offset != nullptr ? *offset : position_.load();
  if (bytes >= static_cast<std::size_t>(size_) || at < 0 || at > kFarthest || !has_memory()) {
    drop();
    if (const int error = flush(); error != 0) return -error;
    return write_through(offset, parts, bytes);
  }
  off64_t next = at;
  std::int64_t done = 0;
  for (const iovec& one : parts) {
    const std::int64_t moved = append(offset == nullptr ? nullptr : &next,
                                      static_cast<const std::byte*>(one.iov_base), one.iov_len);
    if (moved < 0) return done > 0 ? done : moved;
    done += moved;
    next += moved;
    if (moved < static_cast<std::int64_t>(one.iov_len)) break;
  }
  return done;
}

std::size_t DescriptorBuffer::copy_ahead(off64_t at, std::byte* into, std::size_t bytes) noexcept {
  if (at < ahead_begin_ || at >= ahead_end_) return 0;
  const std::size_t piece = std::min(bytes, static_cast<std::size_t>(ahead_end_ - at));
  std::memcpy(into, memory_ + (at - ahead_begin_), piece);
  return piece;
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
    const auto block = static_cast<std::size_t>(size_ - rest % size_);
    moves[0] += 1;
    if (is_sequential && bytes - done < block && rest < kFarthest && has_memory()) {
      result = outcome(real.pread64(descriptor_, memory_, block, rest));
      ahead_begin_ = rest;
      ahead_end_ = rest + std::max<std::int64_t>(result, 0);
      done += copy_ahead(rest, into + done, bytes - done);
    } else {
      result = outcome(real.pread64(descriptor_, into + done, bytes - done, rest));
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
  flush();  // what fails is told by a later write
  return move_by_kernel(offset, whence);
}

std::int64_t DescriptorBuffer::seek_past(off64_t offset, int whence) noexcept {
  write_held();
  if (whence == SEEK_CUR) {
    offset += position_.load();
    whence = SEEK_SET;
  }
  return move_by_kernel(offset, whence);
}

std::int64_t DescriptorBuffer::move_by_kernel(off64_t offset, int whence) noexcept {
  const std::int64_t position = outcome(real.lseek64(descriptor_, offset, whence));
  if (position >= 0) position_ = position;
  return position;
}

int DescriptorBuffer::leave() noexcept {
  drop();
  const int error = flush();
  set_kernel_position();
  return error;
}

void DescriptorBuffer::set_kernel_position() noexcept {
  if (is_intact()) ::lseek64(descriptor_, position_.load(), SEEK_SET);
}

int DescriptorBuffer::write_held() noexcept {
  const std::int64_t head = head_;
  const std::int64_t bytes = end_ - head;
  if (bytes <= 0) return 0;
  if (!is_intact()) return EBADF;
  std::int64_t done = 0;
  return write_range(descriptor_, memory_ + head, bytes, begin_ + head, done);
}

std::int64_t DescriptorBuffer::write_past(const off64_t* offset,
                                          std::span<const iovec> parts) noexcept {
  was_written_ = true;
  if (const int error = write_held(); error != 0) return -error;
  return write_through(offset, parts, bytes_of(parts));
}

std::int64_t DescriptorBuffer::read_past(const off64_t* offset, std::byte* into,
                                         std::size_t bytes) noexcept {
  if (const int error = write_held(); error != 0) return -error;
  const NoCancellation uncancelled;
  const off64_t at = take(offset, 0, bytes);
  const std::int64_t done = outcome(real.pread64(descriptor_, into, bytes, at));
  if (offset == nullptr) position_ -= static_cast<off64_t>(bytes) - std::max<off64_t>(done, 0);
  return done;
}

}  // namespace headrace::posix
