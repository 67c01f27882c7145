#include "base/own_buffer.h"

#include <mutex>
#include <new>
#include <utility>

namespace headrace {

/// The kept block is never destroyed: helper threads may move data until the process ends. A caller
/// that finds the lock taken does without the block: in a forked process the lock could stay taken
/// for ever.
OwnBuffer::Block OwnBuffer::exchange_kept(Block block) {
  static constinit std::mutex mutex;
  static constinit Block kept;
  const std::unique_lock lock(mutex, std::try_to_lock);
  return lock ? std::exchange(kept, block) : block;
}

void OwnBuffer::free(Block block) {
  ::operator delete[](block.bytes, std::align_val_t(kPage));
}

bool OwnBuffer::take(ByteCount size) {
  block_ = exchange_kept({});
  if (block_.size < size) {
    free(block_);
    const auto bytes = static_cast<std::size_t>(size);
    block_ = {new (std::align_val_t(kPage), std::nothrow) std::byte[bytes], size};
  }
  if (block_.bytes == nullptr) return false;
  counted_ = CountedMemory(MemoryUse::sieved, size);
  return true;
}

OwnBuffer::~OwnBuffer() {
  if (block_.bytes == nullptr) return;
  free(block_.size <= kKeptSize ? exchange_kept(block_) : block_);
}

}  // namespace headrace
