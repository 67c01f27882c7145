#pragma once

#include <cstddef>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/types.h"

namespace headrace {

/// Memory of one call of this rank's own, by way of which it moves data. The process
/// keeps the last one, with its pages, for the next call: to make them takes longer than a small
/// call needs to move its data. What is kept does not count as taken. From any thread.
class OwnBuffer {
 public:
  /// Larger ones are not kept.
  static constexpr ByteCount kKeptSize = (ByteCount{1} << 20) + kPage;

  OwnBuffer() = default;
  OwnBuffer(const OwnBuffer&) = delete;
  OwnBuffer& operator=(const OwnBuffer&) = delete;
  ~OwnBuffer();

  /// Whether it has `size` bytes, of any content at first: the same size at each call. False where
  /// there is no memory.
  bool has(ByteCount size) { return block_.bytes != nullptr || take(size); }
  std::byte* data() const { return block_.bytes; }  ///< begins a page

 private:
  struct Block {
    std::byte* bytes = nullptr;
    ByteCount size = 0;
  };

  bool take(ByteCount size);
  /// Gives up a block and gets the one that is kept, if any; `block` itself where the process is
  /// just doing so on another thread.
  static Block exchange_kept(Block block);
  static void free(Block block);

  Block block_;
  CountedMemory counted_;
};

}  // namespace headrace
