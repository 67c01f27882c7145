#include "copy/vectors.h"

namespace headrace::bench::copying {
namespace {

struct Avx2 {
  static constexpr std::size_t kBytes = 32;
  static void stream(std::byte* to, const std::byte* from) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void copy(std::byte* to, const std::byte* from) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

}  // namespace

void stream_avx2(const Pieces& pieces) {
  by_vectors<Avx2, true>(pieces);
}

void copy_avx2(const Pieces& pieces) {
  by_vectors<Avx2, false>(pieces);
}

}  // namespace headrace::bench::copying
