#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace {

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, INDOCRYPT 2012): a message authentication
/// code for those who know the key, and a checksum that chance corruption does not match.
class SipHash {
 public:
  using Key = std::span<const std::byte, 16>;
  using Code = std::array<std::uint64_t, 2>;

  explicit SipHash(Key key);
  /// With a fixed key, for checksums.
  SipHash();

  /// Adds bytes. A message may be added in parts of any sizes.
  void add(std::span<const std::byte> bytes);
  /// The code of all bytes added. Call once; add nothing afterwards.
  Code end();

 private:
  void mix(std::uint64_t word);
  void round();

  std::uint64_t v0_, v1_, v2_, v3_;
  std::uint64_t rest_ = 0;  ///< bytes that do not fill a word yet
  std::uint64_t bytes_ = 0;
};

}  // namespace headrace
