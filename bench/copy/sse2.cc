#include "copy/vectors.h"

namespace headrace::bench::copying {
namespace {

struct Sse2 {
  static constexpr std::size_t kBytes = 16;
  static void stream(std::byte* to, const std::byte* from) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static void copy(std::byte* to, const std::byte* from) { __builtin_memcpy(to, from, kBytes); }
};

}  // namespace

void stream_sse2(const Pieces& pieces) {
  by_vectors<Sse2, true>(pieces);
}

}  // namespace headrace::bench::copying
