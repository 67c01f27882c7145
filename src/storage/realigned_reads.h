#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>

#include "base/page_distance.h"
#include "base/settings.h"
#include "base/types.h"

namespace headrace::storage {

/// Whether a read from `offset` on to this memory is misplaced (see base/page_distance.h).
inline bool is_misplaced(FileOffset offset, const iovec& segment) {
  return headrace::is_misplaced(reinterpret_cast<std::uintptr_t>(segment.iov_base),
                                static_cast<std::uintptr_t>(offset));
}

/// Misplaced reads of one open file: reads to a buffer of this process and copies from there, if
/// that is faster on this processor. Only for data in the page cache; other data is read by the
/// program's whole request. From any thread.
class RealignedReads {
 public:
  explicit RealignedReads(UseSetting setting) : setting_(setting) {}

  /// Smaller reads gain nothing; bytes.
  static constexpr ByteCount kLeast = 4096;

  /// Fills the beginning of `segment` with the bytes of `descriptor` from `offset` >= 0 on. Returns
  /// how many bytes it moved, often 0. The caller must read the rest as usual, which finds errors
  /// and the end of the file. Keeps errno.
  ByteCount read(int descriptor, FileOffset offset, const iovec& segment);

  /// Whether it has moved any bytes.
  bool has_read() const { return has_read_.load(std::memory_order_relaxed); }

 private:
  enum class Way { cached_only, whole, never };

  ssize_t read_cached(int descriptor, std::byte* place, ByteCount size, FileOffset offset);

  UseSetting setting_;
  std::atomic<Way> way_ = Way::cached_only;
  std::atomic<bool> has_read_ = false;
};

}  // namespace headrace::storage
