#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace headrace::sim {

/// Random choices, the same for the same seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15 + 1) {}

  /// low <= number <= high
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(0, std::ssize(values) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::int64_t i = std::ssize(values) - 1; i > 0; --i) {
      std::swap(values[static_cast<std::size_t>(i)],
                values[static_cast<std::size_t>(number(0, i))]);
    }
  }
  std::uint64_t seed() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// A byte that depends on all of `seed` and `index`.
inline std::uint8_t random_byte(std::uint64_t seed, std::int64_t index) {
  std::uint64_t x = seed + static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint8_t>(x >> 56);
}

}  // namespace headrace::sim
