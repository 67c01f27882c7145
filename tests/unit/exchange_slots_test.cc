#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "exchange/slots.h"

namespace headrace::exchange {
namespace {

/// Between calls leaders use slots for other things: what they write there must mark nothing.
TEST(Slots, MarksLieBehindAllBytes) {
  constexpr SlotGeometry kGeometry{65536, 2};
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const auto memory = std::make_unique<Line[]>(kGeometry.bytes() / sizeof(Line));
  const auto staging = std::make_unique<Staging>();
  Slots slots(*staging, {memory[0].bytes, 0, kGeometry.bytes()}, kGeometry);
  slots.prepare();
  EXPECT_EQ(slots.all_bytes().size(), 2U * 65536);
  std::ranges::fill(slots.all_bytes(), std::byte{0xff});
  for (std::int64_t window = 0; window < kGeometry.count; ++window) {
    const plan::Coverage covered = slots.coverage(window, 0);
    ByteCount begin = 0;
    ByteCount len = 0;
    EXPECT_FALSE(covered.next_run(0, kGeometry.window_size, begin, len)) << "window " << window;
  }
}

}  // namespace
}  // namespace headrace::exchange
