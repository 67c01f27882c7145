#pragma once

#include <cstdint>

#include "base/types.h"

namespace headrace::plan {

/// Tells whether the pieces of several ranks tile a stretch, that is, cover each of its bytes
/// exactly once. It takes one number from each rank instead of a mark for each byte.
///
/// If c(x) pieces cover granule x, the number is the sum over x of c(x) * r^x, times r - 1, modulo
/// the prime 2^61 - 1, for a fixed r. A piece adds r^end - r^begin; so does a stretch that is
/// tiled, however it is cut. Two coverages of n granules that differ have the same number for at
/// most n of the 2^61 values of r (Schwartz, J. ACM 27 (1980) 701; Zippel, EUROSAM 1979, 216), and
/// none of the pieces were chosen with r in mind.
///
///     TilingSum mine(0), yours(0);
///     mine.add(0, 100, 200, 2);     // [0, 100) and [200, 300)
///     yours.add(100, 100, 0, 1);    // [100, 200)
///     TilingSum::together(mine.value(), yours.value()) == TilingSum::of_stretch(0, 300, 0)
class TilingSum {
 public:
  using Value = std::uint64_t;  ///< below 2^61 - 1

  /// All offsets and lengths are multiples of 1 << granule_shift.
  explicit TilingSum(int granule_shift) : shift_(granule_shift) {}

  /// Adds `count` pieces of `len` bytes, `stride` bytes apart (at least len where count > 1).
  void add(ByteCount begin, ByteCount len, std::int64_t stride, std::int64_t count);
  Value value() const { return value_; }
  /// Begins a new sum.
  void clear() { value_ = 0; }

  static Value together(Value a, Value b);
  /// The sum of all pieces if they tile [begin, end).
  static Value of_stretch(ByteCount begin, ByteCount end, int granule_shift);

 private:
  int shift_;
  Value value_ = 0;
  std::int64_t known_stride_ =
      0;  ///< inverse_ is 1 / (r^stride - 1) for this stride; a view has few strides
  Value inverse_ = 0;
};

}  // namespace headrace::plan
