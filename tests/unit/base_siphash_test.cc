#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/siphash.h"

namespace headrace {
namespace {

/// The reference implementation's message of some length: 00 01 02 ...
std::vector<std::byte> message(std::size_t len) {
  std::vector<std::byte> bytes(len);
  for (std::size_t i = 0; i < len; ++i) bytes[i] = std::byte(i & 0xff);
  return bytes;
}

std::vector<int> in_bytes(const SipHash::Code& code) {
  std::vector<int> bytes;
  for (const std::uint64_t word : code) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<int>(word >> (8 * i) & 0xff));
  }
  return bytes;
}

/// vectors_sip128 of the reference implementation, with the key 00 01 ... 0f.
TEST(SipHash, GivesTheReferenceVectors) {
  const std::vector<std::byte> key = message(16);
  const std::vector<std::pair<std::size_t, std::vector<int>>> vectors{
      {0,
       {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
        0x93}},
      {1,
       {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
        0x45}},
      {7,
       {0xa1, 0xf1, 0xeb, 0xbe, 0xd8, 0xdb, 0xc1, 0x53, 0xc0, 0xb8, 0x4a, 0xa6, 0x1f, 0xf0, 0x82,
        0x39}},
      {8,
       {0x3b, 0x62, 0xa9, 0xba, 0x62, 0x58, 0xf5, 0x61, 0x0f, 0x83, 0xe2, 0x64, 0xf3, 0x14, 0x97,
        0xb4}},
      {15,
       {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3,
        0xd9}},
  };
  for (const auto& [len, code] : vectors) {
    SipHash hash{SipHash::Key(key)};
    hash.add(message(len));
    EXPECT_EQ(in_bytes(hash.end()), code) << len;
  }
}

TEST(SipHash, DoesNotDependOnTheCuts) {
  const std::vector<std::byte> all = message(300);
  SipHash whole;
  whole.add(all);
  const SipHash::Code code = whole.end();
  for (std::size_t step = 1; step < 40; ++step) {
    SipHash cut;
    for (std::size_t at = 0; at < all.size(); at += step) {
      cut.add(std::span(all).subspan(at, std::min(step, all.size() - at)));
    }
    EXPECT_EQ(cut.end(), code) << step;
  }
}

TEST(SipHash, DependsOnKeyLengthAndEveryByte) {
  std::vector<std::byte> bytes = message(64);
  const auto code_of = [](std::span<const std::byte> key, std::span<const std::byte> text) {
    SipHash hash{SipHash::Key(key)};
    hash.add(text);
    return hash.end();
  };
  std::vector<std::byte> key = message(16);
  const SipHash::Code code = code_of(key, bytes);
  EXPECT_NE(code_of(key, std::span(bytes).first(63)), code);
  for (std::byte& byte : bytes) {
    byte ^= std::byte{1};
    EXPECT_NE(code_of(key, bytes), code);
    byte ^= std::byte{1};
  }
  key[15] ^= std::byte{1};
  EXPECT_NE(code_of(key, bytes), code);
}

}  // namespace
}  // namespace headrace
