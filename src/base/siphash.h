#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace {

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, INDOCRYPT 2012): a message authentication
/// code for whoever knows the key, and a checksum that no chance corruption meets.
class SipHash {
 public:
  using Key = std::span<const std::byte, 16>;
  using Code = std::array<std::uint64_t, 2>;

  explicit SipHash(Key key);
  /// Under a fixed key, for checksums.
  SipHash();

  /// Adds bytes; how a message is cut makes no difference.
  void add(std::span<const std::byte> bytes);
  /// The code of all that was added. Nothing may be added afterwards.
  Code end();

 private:
  void mix(std::uint64_t word);
  void round();

  std::uint64_t v0_, v1_, v2_, v3_;
  std::uint64_t rest_ = 0;  ///< the bytes that fill no word yet
  std::uint64_t bytes_ = 0;
};

}  // namespace headrace
