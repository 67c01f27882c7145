#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/own_buffer.h"
#include "base/types.h"

namespace headrace::buffering {

/// A range of the file, [begin, end).
struct Range {
  FileOffset begin = 0;
  FileOffset end = 0;

  bool is_empty() const { return begin >= end; }
  ByteCount bytes() const { return is_empty() ? 0 : end - begin; }
  bool contains(FileOffset offset) const { return begin <= offset && offset < end; }
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  /// Whether both together are one range. An empty one joins with any.
  bool joins(const Range& other) const {
    return is_empty() || (begin <= other.end && other.begin <= end);
  }
  Range with(const Range& other) const {
    if (is_empty()) return other;
    return {std::min(begin, other.begin), std::max(end, other.end)};
  }
};

/// A buffer for one block of the file. `known` and `dirty` lie in the block's range, and `dirty`
/// lies in `known`.
struct Block {
  static constexpr FileOffset kFree = -1;

  OwnBuffer memory;
  FileOffset begin = kFree;
  Range known;             ///< bytes that the memory holds
  Range dirty;             ///< of these, bytes that the file does not have yet
  bool is_busy = false;    ///< a thread moves its bytes: no other may touch the block
  bool is_ahead = false;   ///< it was read ahead, and nobody has asked for it yet
  std::uint64_t used = 0;  ///< when it was used last, in uses of any block

  /// Of `size` bytes; empty if the block is free.
  Range whole(ByteCount size) const {
    return begin == kFree ? Range() : Range{begin, begin + size};
  }
  std::byte* at(FileOffset offset) const { return memory.data() + (offset - begin); }
  void forget() {
    begin = kFree;
    known = dirty = {};
    is_ahead = false;
  }
};

}  // namespace headrace::buffering
