#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "file/file.h"
#include "view/wide.h"

namespace headrace::file {

/// The data that a view shows, if that is one stretch of the file.
struct ViewedStretch {
  ByteCount unit = 0;  ///< bytes of an etype; 0 if it is not one stretch
  FileOffset begin = 0;

  /// The file offset of `bytes` bytes at `position`, in etypes. Nothing if the data is not one
  /// stretch, if the bytes are not whole etypes, or if the offset is negative or exceeds 62 bits.
  std::optional<FileOffset> place_of(std::int64_t position, ByteCount bytes) const;
};

ViewedStretch viewed_stretch_of(const View& view);

/// A ViewedStretch that threads may read while another sets it; a reader never sees a mixture (a
/// sequence lock). Reading costs four loads; a mutex would take a twentieth of a small call's time.
/// (Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012.)
class SharedStretch {
 public:
  ViewedStretch get() const;
  /// Called by one thread at a time.
  void set(const ViewedStretch& stretch);

 private:
  std::atomic<std::uint32_t> version_ = 0;  ///< odd while it is being set
  std::atomic<ByteCount> unit_ = 0;
  std::atomic<FileOffset> begin_ = 0;
};

inline std::optional<FileOffset> ViewedStretch::place_of(std::int64_t position,
                                                         ByteCount bytes) const {
  FileOffset place = 0;
  FileOffset end = 0;
  if (unit != 1 && (unit == 0 || bytes % unit != 0)) return std::nullopt;
  const bool fits = position >= 0 && !__builtin_mul_overflow(position, unit, &place) &&
                    !__builtin_add_overflow(place, begin, &place) &&
                    !__builtin_add_overflow(place, bytes, &end) && end <= view::kLargest;
  if (!fits) return std::nullopt;
  return place;
}

inline ViewedStretch SharedStretch::get() const {
  for (;;) {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    // A thread that sees a new value also sees the odd version.
    const ViewedStretch stretch{unit_.load(std::memory_order_acquire),
                                begin_.load(std::memory_order_acquire)};
    const std::uint32_t after = version_.load(std::memory_order_relaxed);
    if (before == after && before % 2 == 0) return stretch;
  }
}

}  // namespace headrace::file
