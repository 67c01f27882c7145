#include "base/siphash.h"

#include <bit>
#include <cstring>

namespace headrace {
namespace {

constexpr std::array<std::byte, 16> kNoKey{};

/// Little-endian, whatever the processor is.
std::uint64_t load(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

}  // namespace

SipHash::SipHash() : SipHash(Key(kNoKey)) {}

SipHash::SipHash(Key key)
    : v0_(0x736f6d6570736575 ^ load(key.data())),
      v1_(0x646f72616e646f6d ^ load(key.data() + 8) ^ 0xee),
      v2_(0x6c7967656e657261 ^ load(key.data())),
      v3_(0x7465646279746573 ^ load(key.data() + 8)) {}

inline void SipHash::round() {
  v0_ += v1_;
  v2_ += v3_;
  v1_ = std::rotl(v1_, 13) ^ v0_;
  v3_ = std::rotl(v3_, 16) ^ v2_;
  v0_ = std::rotl(v0_, 32);
  v2_ += v1_;
  v0_ += v3_;
  v1_ = std::rotl(v1_, 17) ^ v2_;
  v3_ = std::rotl(v3_, 21) ^ v0_;
  v2_ = std::rotl(v2_, 32);
}

inline void SipHash::mix(std::uint64_t word) {
  v3_ ^= word;
  round();
  round();
  v0_ ^= word;
}

void SipHash::add(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (; bytes_ % 8 != 0 && at < bytes.size(); ++at, ++bytes_) {
    rest_ |= static_cast<std::uint64_t>(bytes[at]) << (8 * (bytes_ % 8));
    if (bytes_ % 8 != 7) continue;
    mix(rest_);
    rest_ = 0;
  }
  SipHash local = *this;  // so that its words stay in registers
  for (; bytes.size() - at >= 8; at += 8, local.bytes_ += 8) local.mix(load(bytes.data() + at));
  *this = local;
  for (; at < bytes.size(); ++at, ++bytes_) {
    rest_ |= static_cast<std::uint64_t>(bytes[at]) << (8 * (bytes_ % 8));
  }
}

SipHash::Code SipHash::end() {
  mix(rest_ | bytes_ << 56);
  Code code;
  v2_ ^= 0xee;
  for (int i = 0; i < 4; ++i) round();
  code[0] = v0_ ^ v1_ ^ v2_ ^ v3_;
  v1_ ^= 0xdd;
  for (int i = 0; i < 4; ++i) round();
  code[1] = v0_ ^ v1_ ^ v2_ ^ v3_;
  return code;
}

}  // namespace headrace
