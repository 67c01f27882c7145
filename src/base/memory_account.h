#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/types.h"

namespace headrace {

/// What this process has taken large memory for.
enum class MemoryUse {
  buffers,    ///< collective buffers, of the node; counted where its leader runs
  pieces,     ///< lists of pieces of datatypes and views
  converted,  ///< data in the form of the file, a part at a time
  sieved,     ///< data around small pieces, pieces that go together, and read to a better place
  converted_whole,  ///< data in the form of the file, of calls that are not made in parts
};
inline constexpr std::size_t kMemoryUses = 5;

/// Of a node's memory, what collective buffers may have. The rest is for what each rank converts
/// and sieves by itself.
constexpr ByteCount buffers_share(ByteCount node_memory) {
  return node_memory - node_memory / 4;
}

/// Counts memory that is taken, and the most that was taken at a time. From any thread.
void take_memory(MemoryUse use, ByteCount bytes);
/// False, and nothing is counted, where it would then be more than `limit`.
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

/// Memory that counts as long as this lives.
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
