#pragma once

#include <cstddef>

#include "base/types.h"

namespace headrace::view {

/// A binary floating point format, most significant bit first: sign, exponent, fraction.
struct FloatingFormat {
  ByteCount size;     ///< bytes that carry bits
  int exponent_bits;  ///< the bias follows from them, as in IEEE 754
  int fraction_bits;
  bool explicit_integer_bit = false;  ///< the fraction's first bit is the integer bit: x87

  bool operator==(const FloatingFormat&) const = default;
};

/// IEEE 754's binary16, 32, 64 or 128, by size in bytes.
FloatingFormat ieee_format(ByteCount size);

/// The format of C's long double on this processor.
FloatingFormat long_double_format();

/// Converts one number; bytes are most significant first. Exact if the number fits, otherwise
/// rounded to nearest, ties to even.
void convert_floating(const FloatingFormat& from, const std::byte* source, const FloatingFormat& to,
                      std::byte* target);

}  // namespace headrace::view
