#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "view/streaming_copy.h"

namespace headrace::view {
namespace {

TEST(StreamingCopy, MovesExactlyTheBytesAskedForWhereverTheyLie) {
  constexpr std::size_t kSize = 700;
  std::vector<std::byte> source(kSize);
  for (std::size_t i = 0; i < kSize; ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t to = 0; to < 70; ++to) {
    for (const std::size_t from : {0U, 1U, 15U, 64U}) {
      for (const std::size_t length : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 200U, 513U}) {
        std::vector<std::byte> target(kSize, std::byte{0xEE});
        std::vector<std::byte> expected = target;
        std::memcpy(expected.data() + to, source.data() + from, length);
        copy_streaming(target.data() + to, source.data() + from, length);
        end_streaming();
        ASSERT_EQ(target, expected) << to << " " << from << " " << length;
      }
    }
  }
}

}  // namespace
}  // namespace headrace::view
