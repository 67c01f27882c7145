#include "view/streaming_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace headrace::view {

#ifdef __x86_64__

void copy_streaming(std::byte* to, const std::byte* from, std::size_t length) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kStore = sizeof(__m128i);
  // Only whole lines are written without being read.
  const std::size_t head = std::min(length, -reinterpret_cast<std::uintptr_t>(to) % kLine);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; length - done >= kLine; done += kLine) {
    __m128i line[kLine / kStore];
    std::memcpy(line, from + done, kLine);
    auto* const target = reinterpret_cast<__m128i*>(to + done);
    for (std::size_t i = 0; i < kLine / kStore; ++i) _mm_stream_si128(target + i, line[i]);
  }
  std::memcpy(to + done, from + done, length - done);
}

void end_streaming() {
  _mm_sfence();
}

#else

void copy_streaming(std::byte* to, const std::byte* from, std::size_t length) {
  std::memcpy(to, from, length);
}

void end_streaming() {}

#endif

}  // namespace headrace::view
