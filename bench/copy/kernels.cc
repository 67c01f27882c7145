#include "copy/kernels.h"

#include <cstring>
#include <fstream>

#include "view/copy.h"

namespace headrace::bench::copying {
namespace {

/// Calls copy(to, from) for each piece.
template <class Copy>
void each(const Pieces& p, Copy copy) {
  for (std::int64_t i = 0; i < p.count; ++i) {
    copy(p.to + i * p.to_stride, p.from + i * p.from_stride);
  }
}

/// As a collective write does: cursors over both sides, of types made beforehand.
void by_view(const Pieces& p) {
  struct Sides {
    std::size_t length = 0;
    std::int64_t to_stride = 0;
    std::int64_t from_stride = 0;
    view::TypePtr file;
    view::TypePtr memory;
  };
  static Sides sides;
  if (sides.length != p.length || sides.to_stride != p.to_stride ||
      sides.from_stride != p.from_stride) {
    const view::TypePtr piece = view::make_basic(static_cast<ByteCount>(p.length));
    sides = {p.length, p.to_stride, p.from_stride, view::make_resized(piece, 0, p.to_stride),
             view::make_resized(piece, 0, p.from_stride)};
  }
  const ByteCount bytes = static_cast<ByteCount>(p.length) * p.count;
  view::Cursor file(sides.file, 0);
  view::Cursor memory(sides.memory, 0, bytes);
  view::copy(Direction::write, {p.to, 0}, file, view::kUnlimited, const_cast<std::byte*>(p.from),
             memory, bytes);
}

void by_library(const Pieces& p) {
  each(p, [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, p.length); });
}

template <std::size_t kLength>
void of_length(const Pieces& p) {
  each(p, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, kLength); });
}

/// Lengths known to the compiler; others go to the library.
void by_fixed_length(const Pieces& p) {
  switch (p.length) {
    case 8: return of_length<8>(p);
    case 16: return of_length<16>(p);
    case 32: return of_length<32>(p);
    case 40: return of_length<40>(p);
    case 48: return of_length<48>(p);
    case 64: return of_length<64>(p);
    case 72: return of_length<72>(p);
    case 96: return of_length<96>(p);
    case 100: return of_length<100>(p);
    case 128: return of_length<128>(p);
    case 256: return of_length<256>(p);
    default: return by_library(p);
  }
}

template <std::size_t kPart>
void in_two_parts(const Pieces& p) {
  const std::size_t rest = p.length - kPart;
  each(p, [rest](std::byte* to, const std::byte* from) {
    std::memcpy(to, from, kPart);
    std::memcpy(to + rest, from + rest, kPart);
  });
}

/// Two copies of a length known to the compiler, which overlap in the middle.
void by_overlapping_parts(const Pieces& p) {
  if (p.length <= 16) return in_two_parts<8>(p);
  if (p.length <= 32) return in_two_parts<16>(p);
  if (p.length <= 64) return in_two_parts<32>(p);
  if (p.length <= 128) return in_two_parts<64>(p);
  return in_two_parts<128>(p);
}

#if defined(__x86_64__)
void by_string_move(const Pieces& p) {
  each(p, [&](std::byte* to, const std::byte* from) {
    std::size_t length = p.length;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
  });
}
#endif

}  // namespace

std::vector<Kernel> kernels() {
  std::vector<Kernel> list = {
      {"view::copy", "what Headrace does in this build", by_view},
      {"memcpy", "the C library's, called for each piece", by_library},
      {"fixed", "a length known to the compiler", by_fixed_length, 8, 256},
      {"overlapping", "two copies of fixed length that overlap", by_overlapping_parts, 8, 256},
  };
#if defined(__x86_64__)
  constexpr std::size_t kLeastStream = 64;
  list.push_back({"rep movsb", "the processor's own string move", by_string_move, 64});
  list.push_back({"stream SSE2", "16-byte non-temporal stores", stream_sse2, kLeastStream});
  if (__builtin_cpu_supports("avx2") != 0) {
    list.push_back({"AVX2", "32-byte loads and stores", copy_avx2, kLeastStream});
    list.push_back({"stream AVX2", "32-byte non-temporal stores", stream_avx2, kLeastStream});
  }
  if (__builtin_cpu_supports("avx512f") != 0) {
    list.push_back({"AVX-512", "64-byte loads and stores", copy_avx512, kLeastStream});
    list.push_back({"stream AVX-512", "64-byte non-temporal stores", stream_avx512, kLeastStream});
  }
#endif
  return list;
}

std::string processor() {
  std::ifstream information("/proc/cpuinfo");
  std::string name = "unknown processor";
  std::string numbers;
  for (std::string line; std::getline(information, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) name = value;
    if (line.starts_with("cpu family")) numbers += ", family " + value;
    if (line.starts_with("model\t")) numbers += ", model " + value;
  }
  return name + numbers;
}

}  // namespace headrace::bench::copying
