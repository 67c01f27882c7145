#pragma once

#include <cstdint>

namespace headrace::view {

/// Holds any product of two 64-bit numbers, and sums of many.
__extension__ typedef __int128 Wide;

/// Sizes and offsets stay within 62 bits, so that the difference of any two fits in 64.
inline constexpr std::int64_t kLargest = (std::int64_t{1} << 62) - 1;

inline constexpr bool fits(Wide value) {
  return value >= -kLargest && value <= kLargest;
}

}  // namespace headrace::view
