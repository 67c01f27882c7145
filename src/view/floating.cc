#include "view/floating.h"

#include <algorithm>
#include <cfloat>

namespace headrace::view {
namespace {

__extension__ typedef unsigned __int128 Bits;

constexpr int kWidth = 128;

/// A number independent of any format: (-1)^sign * significand * 2^exponent, with a significand
/// below 2 whose integer bit is at the top; or zero, infinity or not-a-number.
struct Number {
  enum class Kind { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool sign = false;
  int exponent = 0;
  Bits significand = 0;  ///< for nan: the fraction, with its quiet bit at the top
};

Bits ones(int count) {
  return count == 0 ? 0 : ~Bits{0} >> (kWidth - count);
}

int leading_zeros(Bits bits) {
  const auto high = static_cast<unsigned long long>(bits >> 64);
  const auto low = static_cast<unsigned long long>(bits);
  return high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
}

Bits load(const FloatingFormat& format, const std::byte* source) {
  Bits bits = 0;
  for (ByteCount i = 0; i < format.size; ++i) {
    bits = bits << 8 | std::to_integer<unsigned>(source[i]);
  }
  return bits;
}

void store(const FloatingFormat& format, Bits bits, std::byte* target) {
  for (ByteCount i = format.size; i-- > 0; bits >>= 8) {
    target[i] = static_cast<std::byte>(bits & 0xff);
  }
}

int bias_of(const FloatingFormat& format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

/// Moves the integer bit, which may lie anywhere in `significand`, to the top. With the bit at the
/// top, the exponent is `exponent`.
Number normalised(bool sign, int exponent, Bits significand) {
  if (significand == 0) return {Number::Kind::zero, sign, 0, 0};
  const int shift = leading_zeros(significand);
  return {Number::Kind::finite, sign, exponent - shift, significand << shift};
}

Number unpack(const FloatingFormat& format, Bits bits) {
  const int stored_bits = format.fraction_bits + (format.explicit_integer_bit ? 1 : 0);
  const bool sign = (bits >> (stored_bits + format.exponent_bits) & 1) != 0;
  const int exponent = static_cast<int>(bits >> stored_bits & ones(format.exponent_bits));
  const Bits fraction = bits & ones(format.fraction_bits);
  const Bits integer_bit = Bits{1} << format.fraction_bits;
  const int to_top = kWidth - 1 - format.fraction_bits;
  // An x87 number with an exponent but no integer bit is invalid: no processor makes it.
  const bool is_invalid = format.explicit_integer_bit && exponent != 0 && (bits & integer_bit) == 0;
  if (exponent == static_cast<int>(ones(format.exponent_bits)) || is_invalid) {
    if (fraction == 0 && !is_invalid) return {Number::Kind::infinite, sign, 0, 0};
    return {Number::Kind::nan, sign, 0, fraction << (kWidth - format.fraction_bits)};
  }
  if (exponent == 0) {
    // An x87 number may have the integer bit set here; it counts.
    return normalised(sign, 1 - bias_of(format), (bits & ones(stored_bits)) << to_top);
  }
  return normalised(sign, exponent - bias_of(format), (fraction | integer_bit) << to_top);
}

/// The topmost `count` bits of `bits`, rounded to nearest, ties to even. May carry into bit
/// `count`.
Bits rounded(Bits bits, int count) {
  if (count >= kWidth) return bits;
  if (count < 0) return 0;
  const Bits kept = count == 0 ? 0 : bits >> (kWidth - count);
  const Bits rest = bits << count;
  const Bits half = Bits{1} << (kWidth - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

Bits pack(const FloatingFormat& format, const Number& number) {
  const Bits top_exponent = ones(format.exponent_bits);
  const Bits integer_bit = Bits{1} << format.fraction_bits;
  // x87 stores the integer bit, which is set for all but zeros and denormals.
  const int exponent_shift = format.fraction_bits + (format.explicit_integer_bit ? 1 : 0);
  const Bits explicit_bit = format.explicit_integer_bit ? integer_bit : 0;
  const Bits sign = Bits{number.sign} << (exponent_shift + format.exponent_bits);
  const Bits infinity = sign | top_exponent << exponent_shift | explicit_bit;
  switch (number.kind) {
    case Number::Kind::zero: return sign;
    case Number::Kind::infinite: return infinity;
    case Number::Kind::nan: {
      const Bits fraction = number.significand >> (kWidth - format.fraction_bits);
      const Bits quiet_bit = integer_bit >> 1;
      // Without a payload it would be an infinity.
      return infinity | (fraction == 0 ? quiet_bit : fraction);
    }
    case Number::Kind::finite: break;
  }
  Bits biased = 0;
  Bits significand = 0;
  const int lowest = 1 - bias_of(format);
  if (number.exponent >= lowest) {
    biased = static_cast<Bits>(number.exponent + bias_of(format));
    significand = rounded(number.significand, format.fraction_bits + 1);
    if (significand >> (format.fraction_bits + 1) != 0) {
      significand >>= 1;
      biased += 1;
    }
  } else {
    const int missing = lowest - number.exponent;
    significand = rounded(number.significand, format.fraction_bits + 1 - missing);
    if (significand == integer_bit) biased = 1;  // rounded up to the least normal number
  }
  if (biased >= top_exponent) return infinity;
  const Bits stored =
      format.explicit_integer_bit ? significand : significand & ones(format.fraction_bits);
  return sign | biased << exponent_shift | stored;
}

}  // namespace

FloatingFormat ieee_format(ByteCount size) {
  switch (size) {
    case 2: return {2, 5, 10};
    case 4: return {4, 8, 23};
    case 8: return {8, 11, 52};
    default: return {16, 15, 112};
  }
}

FloatingFormat long_double_format() {
  if constexpr (LDBL_MANT_DIG == 64) return {10, 15, 63, true};
  return ieee_format(LDBL_MANT_DIG == 53 ? 8 : 16);
}

void convert_floating(const FloatingFormat& from, const std::byte* source, const FloatingFormat& to,
                      std::byte* target) {
  store(to, pack(to, unpack(from, load(from, source))), target);
}

}  // namespace headrace::view
