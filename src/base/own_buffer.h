#pragma once

#include <cstddef>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/types.h"

namespace headrace {

/// A rank's private buffer for the data of one call. The process keeps the last one, with its
/// pages, for the next call: making new pages takes longer than moving the data of a small call. A
/// kept buffer does not count as taken memory. Safe from any thread.
class OwnBuffer {
 public:
  /// Larger buffers are not kept; bytes.
  static constexpr ByteCount kKeptSize = (ByteCount{1} << 20) + kPage;

  OwnBuffer() = default;
  OwnBuffer(const OwnBuffer&) = delete;
  OwnBuffer& operator=(const OwnBuffer&) = delete;
  ~OwnBuffer();

  /// Takes `size` bytes of any content at the first call; later calls must name the same size.
  /// False if there is no memory.
  bool has(ByteCount size) { return block_.bytes != nullptr || take(size); }
  std::byte* data() const { return block_.bytes; }  ///< aligned to a page; null before has()

 private:
  struct Block {
    std::byte* bytes = nullptr;
    ByteCount size = 0;
  };

  bool take(ByteCount size);
  /// Keeps `block` and returns the block that was kept, which may be empty. Returns `block` itself
  /// if another thread is just exchanging.
  static Block exchange_kept(Block block);
  static void free(Block block);

  Block block_;
  CountedMemory counted_;
};

}  // namespace headrace
