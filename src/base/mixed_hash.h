#pragma once

#include <cstdint>

namespace headrace {

/// A hash by multiplication with 2^64 divided by the golden ratio: its highest bits depend on all
/// bits of the value, so tables take those (Knuth, The Art of Computer Programming, vol. 3, 6.4).
constexpr std::uint64_t golden_hash(std::uint64_t value) {
  return value * 0x9e3779b97f4a7c15;
}

/// A hash whose bits all depend on all bits of the value, another one for each value: the mixer of
/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
constexpr std::uint64_t mixed_hash(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace headrace
