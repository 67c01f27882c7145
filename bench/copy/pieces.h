#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::bench::copying {

/// `count` pieces of `length` bytes; piece i goes from `from + i * from_stride` to
/// `to + i * to_stride`.
struct Pieces {
  std::byte* to;
  std::int64_t to_stride;
  const std::byte* from;
  std::int64_t from_stride;
  std::size_t length;
  std::int64_t count;
};

// Copies by vectors of one instruction set (SSE2, AVX2, AVX-512), each in a file compiled for it.
// `stream` stores past the cache what is aligned, `copy` as usual.
void stream_sse2(const Pieces& pieces);
void stream_avx2(const Pieces& pieces);
void stream_avx512(const Pieces& pieces);
void copy_avx2(const Pieces& pieces);
void copy_avx512(const Pieces& pieces);

}  // namespace headrace::bench::copying
