#pragma once

// Included by files that are compiled for an instruction set which the machine may lack. So nothing
// in here may be an inline function of others, which the linker could give to the whole program.

#include <immintrin.h>

#include "copy/pieces.h"

namespace headrace::bench::copying {
namespace {

/// Vectors of `Vector::kBytes` bytes from the first aligned place of each target on; what is before
/// and behind them is copied byte for byte by the compiler's own code.
template <class Vector, bool kStreams>
void by_vectors(const Pieces& p) {
  constexpr std::size_t kBytes = Vector::kBytes;
  for (std::int64_t i = 0; i < p.count; ++i) {
    std::byte* to = p.to + i * p.to_stride;
    const std::byte* from = p.from + i * p.from_stride;
    std::size_t head = kStreams ? -reinterpret_cast<std::uintptr_t>(to) % kBytes : 0;
    if (head > p.length) head = p.length;
    if (head > 0) __builtin_memcpy(to, from, head);
    std::size_t at = head;
    for (; at + kBytes <= p.length; at += kBytes) {
      if (kStreams) {
        Vector::stream(to + at, from + at);
      } else {
        Vector::copy(to + at, from + at);
      }
    }
    if (at < p.length) __builtin_memcpy(to + at, from + at, p.length - at);
  }
  if (kStreams) _mm_sfence();
}

}  // namespace
}  // namespace headrace::bench::copying
