#include "copy/vectors.h"

namespace headrace::bench::copying {
namespace {

struct Avx512 {
  static constexpr std::size_t kBytes = 64;
  static void stream(std::byte* to, const std::byte* from) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to),
                        _mm512_loadu_si512(reinterpret_cast<const __m512i*>(from)));
  }
  static void copy(std::byte* to, const std::byte* from) {
    _mm512_storeu_si512(reinterpret_cast<__m512i*>(to),
                        _mm512_loadu_si512(reinterpret_cast<const __m512i*>(from)));
  }
};

}  // namespace

void stream_avx512(const Pieces& pieces) {
  by_vectors<Avx512, true>(pieces);
}

void copy_avx512(const Pieces& pieces) {
  by_vectors<Avx512, false>(pieces);
}

}  // namespace headrace::bench::copying
