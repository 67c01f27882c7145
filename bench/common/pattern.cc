#include "common/pattern.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::bench {

void fill_by_offset(std::span<std::byte> to, std::int64_t offset, std::uint64_t salt) {
  static_assert(std::endian::native == std::endian::little);
  while (!to.empty()) {
    const std::size_t within = static_cast<std::size_t>(offset % 8);
    const std::size_t length = std::min(8 - within, to.size());
    const std::uint64_t word = mix(salt ^ static_cast<std::uint64_t>(offset / 8)) >> 8 * within;
    std::memcpy(to.data(), &word, length);
    to = to.subspan(length);
    offset += static_cast<std::int64_t>(length);
  }
}

}  // namespace headrace::bench
