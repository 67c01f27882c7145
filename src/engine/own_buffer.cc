#include "engine/own_buffer.h"

#include <utility>

namespace headrace::engine {

OwnBuffer::Block& OwnBuffer::kept() {
  thread_local Block block;
  return block;
}

bool OwnBuffer::take(ByteCount size) {
  if (kept().size >= size) {
    block_ = std::exchange(kept(), {});
  } else {
    const auto bytes = static_cast<std::size_t>(size);
    block_.bytes.reset(new (std::align_val_t(kPage), std::nothrow) std::byte[bytes]);
    block_.size = size;
  }
  if (is_taken()) counted_ = CountedMemory(MemoryUse::sieved, size);
  return is_taken();
}

OwnBuffer::~OwnBuffer() {
  if (is_taken() && block_.size <= kKeptSize) kept() = std::move(block_);
}

}  // namespace headrace::engine
