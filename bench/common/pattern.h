#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::bench {

/// Mixes a 64-bit number so that neighbours share nothing: Sebastiano Vigna's splitmix64 finalizer.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// The bytes from file offset `offset` on, where word i of 8 bytes holds mix(salt ^ i), lowest byte
/// first.
void fill_by_offset(std::span<std::byte> to, std::int64_t offset, std::uint64_t salt);

}  // namespace headrace::bench
