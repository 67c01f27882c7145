#pragma once

#include <cstddef>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/types.h"

namespace headrace::engine {

/// Memory of one call of this rank's own, in which it sieves or gathers small pieces. The process
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

  /// Has `size` bytes from now on, of any content. False where there is no memory. To be called
  /// once.
  bool take(ByteCount size);
  bool is_taken() const { return block_.bytes != nullptr; }
  std::byte* data() const { return block_.bytes; }  ///< begins a page

 private:
  struct Block {
    std::byte* bytes = nullptr;
    ByteCount size = 0;
  };

  /// Gives up a block and gets the one that is kept, if any; `block` itself where the process is
  /// just doing so on another thread.
  static Block exchange_kept(Block block);
  static void free(Block block);

  Block block_;
  CountedMemory counted_;
};

}  // namespace headrace::engine
