#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "base/memory_account.h"
#include "base/rounding.h"
#include "base/types.h"

namespace headrace::engine {

/// Memory of one call of this rank's own, in which it sieves or gathers small pieces. A thread
/// keeps the last one, with its pages, for its next call: to make them takes longer than a small
/// call needs to move its data. What is kept does not count as taken.
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
  std::byte* data() const { return block_.bytes.get(); }  ///< begins a page

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t(kPage)); }
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> bytes;
    ByteCount size = 0;
  };
  static Block& kept();

  Block block_;
  CountedMemory counted_;
};

}  // namespace headrace::engine
