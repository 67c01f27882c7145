#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <span>

#include "base/types.h"
#include "storage/store.h"

namespace headrace::storage {

/// Linux moves at most 0x7ffff000 bytes and IOV_MAX segments in one call (read(2), readv(2)).
inline constexpr ByteCount kMaxBytes = 0x7ffff000;
inline constexpr std::size_t kMaxSegments = 1024;

/// The rest of a request, handed out in pieces that one system call can take.
class Remainder {
 public:
  explicit Remainder(std::span<const iovec> segments) : segments_(segments) {}

  bool empty() {
    while (!segments_.empty() && segments_.front().iov_len == skipped_) {
      segments_ = segments_.subspan(1);
      skipped_ = 0;
    }
    return segments_.empty();
  }

  /// Fills `batch` and returns how many entries it holds. Call only when not empty().
  std::size_t fill(std::array<iovec, kMaxSegments>& batch) const {
    assert(!segments_.empty());
    ByteCount room = kMaxBytes;
    std::size_t used = 0;
    std::size_t skipped = skipped_;
    for (const iovec& segment : segments_) {
      if (used == batch.size() || room == 0) break;
      const std::size_t len = std::min(segment.iov_len - skipped, static_cast<std::size_t>(room));
      if (len > 0) {
        batch[used++] = {static_cast<char*>(segment.iov_base) + skipped, len};
        room -= static_cast<ByteCount>(len);
      }
      skipped = 0;
    }
    return used;
  }

  /// Leaves out the next `bytes` bytes, which must not be more than remain.
  void advance(std::size_t bytes) {
    while (bytes > 0) {
      assert(!segments_.empty());
      const std::size_t step = std::min(bytes, segments_.front().iov_len - skipped_);
      skipped_ += step;
      bytes -= step;
      if (skipped_ == segments_.front().iov_len) {
        segments_ = segments_.subspan(1);
        skipped_ = 0;
      }
    }
  }

 private:
  std::span<const iovec> segments_;
  std::size_t skipped_ = 0;
};

/// Calls `request(segments, count, offset)` until all is moved, nothing more comes, or it fails.
/// `offset` >= 0. After EAGAIN, which some mounts return instead of waiting, it pauses and tries
/// again up to kMaxTries times.
template <class Request>
Transferred move_all(FileOffset offset, std::span<const iovec> segments, Request request) {
  assert(offset >= 0);
  ssize_t first = 0;
  if (segments.size() == 1 && segments.front().iov_len <= kMaxBytes) {
    // The usual case: one call moves all.
    const iovec& whole = segments.front();
    first = request(&whole, 1, offset);
    if (first == static_cast<ssize_t>(whole.iov_len)) {
      return {static_cast<ByteCount>(whole.iov_len), 0};
    }
    // Is not tried again: Linux' NFS client tells an error of earlier writes once, and takes the
    // next call.
    if (first < 0 && errno != EINTR && errno != EAGAIN) return {0, errno};
  }
  constexpr int kMaxTries = 100;
  constexpr timespec pause{0, 1'000'000};
  Remainder remainder(segments);
  Transferred done;
  // Does not write the first bytes again: on copy-on-write file systems that would take space
  // again.
  if (first > 0) {
    remainder.advance(static_cast<std::size_t>(first));
    done.bytes = first;
  }
  std::array<iovec, kMaxSegments> batch;
  // A call that only finds the end of the file is no repetition.
  bool is_again = first != 0;
  int tries = 0;
  while (!remainder.empty()) {
    const std::size_t count = remainder.fill(batch);
    const ssize_t moved = request(batch.data(), static_cast<int>(count), offset + done.bytes);
    if (is_again && moved != 0) ++done.repeats;
    is_again = count < kMaxSegments && moved < kMaxBytes;
    if (moved > 0) {
      remainder.advance(static_cast<std::size_t>(moved));
      done.bytes += moved;
      tries = 0;
    } else if (moved == 0) {
      break;
    } else if (errno == EAGAIN && ++tries < kMaxTries) {
      nanosleep(&pause, nullptr);
    } else if (errno != EINTR) {
      done.system_error = errno;
      break;
    }
  }
  return done;
}

}  // namespace headrace::storage
