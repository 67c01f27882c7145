#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>

#include "base/page_distance.h"
#include "base/settings.h"
#include "base/types.h"

namespace headrace::storage {

/// Whether bytes from `offset` on lie misplaced where they are read to.
inline bool is_misplaced(FileOffset offset, const iovec& segment) {
  return headrace::is_misplaced(reinterpret_cast<std::uintptr_t>(segment.iov_base),
                                static_cast<std::uintptr_t>(offset));
}

/// Reads of one open file to places in memory where they are misplaced: by way of memory of the
/// process's own, where that is faster on this processor. Only what the page cache holds goes
/// there; a file that must be fetched is asked for by the program's whole request. From any thread.
class RealignedReads {
 public:
  explicit RealignedReads(UseSetting setting) : setting_(setting) {}

  /// Smaller reads take as long by two copies.
  static constexpr ByteCount kLeast = 4096;

  /// Fills the beginning of `segment` with the bytes of `descriptor` from `offset` on, and returns
  /// how many it moved, often 0. The rest is to be read as usual, which finds errors and the end
  /// of the file. Keeps errno.
  ByteCount read(int descriptor, FileOffset offset, const iovec& segment);

  /// Whether any bytes were moved so.
  bool has_read() const { return has_read_.load(std::memory_order_relaxed); }

 private:
  enum class Way { cached_only, whole, never };

  ssize_t read_cached(int descriptor, std::byte* place, ByteCount size, FileOffset offset);

  UseSetting setting_;
  std::atomic<Way> way_ = Way::cached_only;
  std::atomic<bool> has_read_ = false;
};

}  // namespace headrace::storage
