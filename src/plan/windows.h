#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace headrace::plan {

/// The part of the file that one rank touches in a call: `bytes` bytes of data within [begin, end).
struct RankRange {
  FileOffset begin = 0;
  FileOffset end = 0;
  ByteCount bytes = 0;
};

/// A half-open range of the file.
struct FileRange {
  FileOffset begin = 0;
  FileOffset end = 0;
};

/// Cuts the part of the file that a collective call touches into windows: stretches of
/// `window_size` bytes that begin at multiples of it, numbered from 0 in file order. Windows that
/// no rank's range meets are left out. A rank takes part in every window that its range meets,
/// whether or not it has a piece there; so all ranks know from the ranges alone how many to expect.
///
/// Example: window size 100, ranges [50, 120) and [950, 960): windows [0, 100), [100, 200),
/// [900, 1000) with 1, 1 and 1 participants.
class Windows {
 public:
  Windows(std::span<const RankRange> ranges, ByteCount window_size);
  /// Has no windows yet. set() takes no memory for up to `most_ranges` ranges.
  explicit Windows(std::size_t most_ranges);
  void set(std::span<const RankRange> ranges, ByteCount window_size);
  /// Cuts the same ranges into windows of another size.
  void resize(ByteCount window_size);

  std::int64_t count() const { return count_; }
  /// Bytes between the first and the last byte of the ranges, gaps between ranges left out.
  ByteCount span() const { return span_; }
  ByteCount window_size() const { return window_size_; }
  FileRange range(std::int64_t window) const;
  int participants(std::int64_t window) const { return participants_of(range(window)); }
  /// How many ranks' ranges meet a window, which need not be one of these.
  int participants_of(const FileRange& window) const;
  /// Whether the window holds the last byte of some rank's range.
  bool ends_a_range(std::int64_t window) const;
  /// The part of range(window) between the first and the last byte of its participants.
  FileRange touched(std::int64_t window) const;
  /// The window that holds a byte of some rank's range.
  std::int64_t window_of(FileOffset offset) const;

 private:
  /// Windows [first, first + number) are consecutive in the file from `begin` on.
  struct Stretch {
    FileOffset begin = 0;
    std::int64_t first = 0;
    std::int64_t number = 0;
  };

  void add_windows_of(const RankRange& range);
  const Stretch& stretch_of_window(std::int64_t window) const;

  ByteCount window_size_ = 1;
  std::vector<RankRange> ranges_;
  std::vector<RankRange> sorted_;
  std::vector<Stretch> stretches_;
  std::int64_t count_ = 0;
  ByteCount span_ = 0;
  FileRange common_;  ///< the intersection of all ranges
};

/// Windows of small calls are halved down to this many bytes. Smaller windows cost more in system
/// calls and messages than working in parallel gains; and files grow slowly by small writes.
constexpr ByteCount kLeastWindow = 64 << 10;
constexpr ByteCount kLeastWindowToRead = 16 << 10;  ///< for reads by the ranks of one node

/// The size of a call's windows: at most `largest`, and less if the call is small, so that the
/// ranks can work on several in parallel. It is halved while it stays a multiple of `least` and
/// there are fewer than `wanted` windows in `bytes`.
///
/// Example: 40,000 bytes, at least 3 windows of 16 to 256 KiB: 16 KiB.
ByteCount fitting_window(ByteCount bytes, std::int64_t wanted, ByteCount least, ByteCount largest);

}  // namespace headrace::plan
