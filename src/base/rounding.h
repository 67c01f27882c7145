#pragma once

#include "base/types.h"

namespace headrace {

/// Bytes of a page of memory. Windows consist of whole pages, so that the kernel finds buffers
/// aligned.
inline constexpr ByteCount kPage = 4096;

/// How many parts of `size` > 0 it takes to hold `whole` >= 0.
template <class Number>
constexpr Number divide_up(Number whole, Number size) {
  return whole / size + (whole % size != 0 ? 1 : 0);
}

/// The least multiple of `unit` > 0 that is not below `value` >= 0.
template <class Number>
constexpr Number round_up(Number value, Number unit) {
  return divide_up(value, unit) * unit;
}

}  // namespace headrace
