#pragma once

#include <cstdint>

namespace headrace {

/// A hash of the values added, in 62 bits: FNV-1a (Fowler, Noll and Vo).
class Fingerprint {
 public:
  void add_byte(unsigned char byte) { print_ = (print_ ^ byte) * kPrime; }
  /// Adds the number's eight bytes, the lowest first.
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> shift));
    }
  }
  std::int64_t value() const { return static_cast<std::int64_t>(print_ >> 2); }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3;
  static constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;

  std::uint64_t print_ = kOffsetBasis;
};

}  // namespace headrace
