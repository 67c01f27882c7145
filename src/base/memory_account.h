#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/types.h"

namespace headrace {

/// What this process takes large memory for.
enum class MemoryUse {
  buffers,    ///< the node's collective buffers, counted in its leader's process
  pieces,     ///< lists of pieces of datatypes and views
  converted,  ///< data in the file's representation, a part at a time
  sieved,     ///< this rank's buffers for sieving, for joining pieces, and for realigned reads
  converted_whole,  ///< data in the file's representation, of calls that are not split into parts
};
inline constexpr std::size_t kMemoryUses = 5;

/// Bytes of HEADRACE_NODE_MEMORY that collective buffers may take. The rest is for what each rank
/// converts and sieves by itself.
constexpr ByteCount buffers_share(ByteCount node_memory) {
  return node_memory - node_memory / 4;
}

/// Counts memory that is taken, and the peak. Safe from any thread, as all functions here.
void take_memory(MemoryUse use, ByteCount bytes);
/// Does the same unless the total would exceed `limit` bytes: then counts nothing and returns
/// false.
bool take_memory_within(MemoryUse use, ByteCount bytes, ByteCount limit);
void give_memory_back(MemoryUse use, ByteCount bytes);

struct MemoryTaken {
  ByteCount now = 0;
  ByteCount peak = 0;
};
MemoryTaken memory_taken(MemoryUse use);

/// The peaks, by the numbers of MemoryUse.
using MemoryPeaks = std::array<ByteCount, kMemoryUses>;
MemoryPeaks memory_peaks();

/// Counts `bytes` as taken while the object lives.
class CountedMemory {
 public:
  CountedMemory() = default;
  CountedMemory(MemoryUse use, ByteCount bytes) : use_(use), bytes_(bytes) {
    if (bytes_ != 0) take_memory(use_, bytes_);
  }
  CountedMemory(CountedMemory&& other) noexcept
      : use_(other.use_), bytes_(std::exchange(other.bytes_, 0)) {}
  CountedMemory& operator=(CountedMemory&& other) noexcept {
    std::swap(use_, other.use_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CountedMemory() {
    if (bytes_ != 0) give_memory_back(use_, bytes_);
  }

 private:
  MemoryUse use_ = MemoryUse::pieces;
  ByteCount bytes_ = 0;
};

}  // namespace headrace
