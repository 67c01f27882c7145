#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/held_descriptor.h"
#include "base/rounding.h"
#include "base/types.h"
#include "storage/store.h"

namespace headrace::storage {

/// Requests on one open file past the page cache (O_DIRECT), as far as they cover whole pages whose
/// place in memory and in the file is the same within a page, which collective buffers do. The rest
/// goes through the page cache: before the kernel passes it by, it writes back and forgets what it
/// has of these pages. From any thread.
class DirectIo {
 public:
  /// Fewer bytes are not worth waiting for the device.
  static constexpr ByteCount kLeast = ByteCount{64} << 10;

  /// Opens the file once more. An errno, or 0; EINVAL: its file system refuses O_DIRECT.
  int open(int descriptor);
  bool is_on() const { return file_ && !is_refused_.load(std::memory_order_relaxed); }
  bool has_moved() const { return has_moved_.load(std::memory_order_relaxed); }

  /// Moves the segment: `plain(offset, segment)` what cannot go directly.
  template <class Plain>
  Transferred move(Direction direction, FileOffset offset, const iovec& segment, Plain plain) {
    auto* const memory = static_cast<std::byte*>(segment.iov_base);
    const auto bytes = static_cast<ByteCount>(segment.iov_len);
    const ByteCount head = std::min(bytes, round_up(offset, kPage) - offset);
    const ByteCount body = (bytes - head) / kPage * kPage;
    const auto place = reinterpret_cast<std::uintptr_t>(memory + head);
    if (body < kLeast || place % kPage != 0) return plain(offset, segment);
    const auto part = [&](ByteCount begin, ByteCount end) {
      return iovec{memory + begin, static_cast<std::size_t>(end - begin)};
    };
    Transferred done;
    if (head > 0) done = plain(offset, part(0, head));
    if (done.system_error != 0 || done.bytes < head) return done;
    const Transferred direct = move_pages(direction, offset + head, memory + head, body);
    done.bytes += direct.bytes;
    done.repeats += direct.repeats;
    done.system_error = direct.system_error;
    if (done.system_error != 0 || done.bytes == bytes) return done;
    const Transferred rest = plain(offset + done.bytes, part(done.bytes, bytes));
    return {done.bytes + rest.bytes, rest.system_error, done.repeats + rest.repeats};
  }

 private:
  Transferred move_pages(Direction direction, FileOffset offset, std::byte* memory,
                         ByteCount bytes);

  HeldDescriptor file_;
  std::atomic<bool> is_refused_ = false;
  std::atomic<bool> has_moved_ = false;
};

}  // namespace headrace::storage
