#include "plan/tiling.h"

#include <array>
#include <cstddef>

namespace headrace::plan {
namespace {

using Value = TilingSum::Value;
__extension__ typedef unsigned __int128 Product;

constexpr Value kPrime = (Value{1} << 61) - 1;
/// A primitive root of kPrime, drawn at random: no two of its first 2^61 - 2 powers are equal.
constexpr Value kRoot = 0x167eacceffff2bb4;

/// Runs of fewer pieces are added piece by piece.
constexpr std::int64_t kShortRun = 4;

Value sum(Value a, Value b) {
  const Value all = a + b;
  return all >= kPrime ? all - kPrime : all;
}

Value difference(Value a, Value b) {
  return a >= b ? a - b : a + kPrime - b;
}

Value product(Value a, Value b) {
  const Product all = static_cast<Product>(a) * b;
  return sum(static_cast<Value>(all & kPrime), static_cast<Value>(all >> 61));
}

Value raised(Value base, std::uint64_t exponent) {
  Value result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = product(result, base);
    base = product(base, base);
  }
  return result;
}

/// By Fermat's little theorem; `value` is not 0.
Value inverse(Value value) {
  return raised(value, kPrime - 2);
}

/// r^x from a table for each ten bits of x.
class Powers {
 public:
  Powers() {
    for (std::size_t digit = 0; digit < tables_.size(); ++digit) {
      const Value step = raised(kRoot, std::uint64_t{1} << (kDigitBits * digit));
      Value power = 1;
      for (Value& entry : tables_[digit]) {
        entry = power;
        power = product(power, step);
      }
    }
  }

  Value of(std::int64_t exponent) const {
    const auto x = static_cast<std::uint64_t>(exponent);
    if (x >= kEntries * kEntries * kEntries) return raised(kRoot, x);
    Value power = tables_[0][x % kEntries];
    if (x >= kEntries) power = product(power, tables_[1][x / kEntries % kEntries]);
    if (x >= kEntries * kEntries) power = product(power, tables_[2][x / kEntries / kEntries]);
    return power;
  }

 private:
  static constexpr std::size_t kDigitBits = 10;
  static constexpr std::size_t kEntries = std::size_t{1} << kDigitBits;

  std::array<std::array<Value, kEntries>, 3> tables_;
};

/// Made at first use, so that processes that never stage pay nothing.
const Powers& powers() {
  static const Powers kPowers;
  return kPowers;
}

}  // namespace

void TilingSum::add(ByteCount begin, ByteCount len, std::int64_t stride, std::int64_t count) {
  const Powers& root = powers();
  begin >>= shift_;
  len >>= shift_;
  stride >>= shift_;
  if (count < kShortRun) {
    for (std::int64_t i = 0; i < count; ++i, begin += stride) {
      value_ = sum(value_, difference(root.of(begin + len), root.of(begin)));
    }
    return;
  }
  // The sum of a geometric series: r^begin (r^len - 1) (r^(stride count) - 1) / (r^stride - 1).
  if (stride != known_stride_) {
    known_stride_ = stride;
    inverse_ = inverse(difference(root.of(stride), 1));
  }
  const Value first = product(root.of(begin), difference(root.of(len), 1));
  const Value steps = difference(root.of(stride * count), 1);
  value_ = sum(value_, product(product(first, steps), inverse_));
}

TilingSum::Value TilingSum::together(Value a, Value b) {
  return sum(a, b);
}

TilingSum::Value TilingSum::of_stretch(ByteCount begin, ByteCount end, int granule_shift) {
  return difference(powers().of(end >> granule_shift), powers().of(begin >> granule_shift));
}

}  // namespace headrace::plan
