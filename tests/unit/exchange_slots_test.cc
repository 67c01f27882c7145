#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "exchange/slots.h"

namespace headrace::exchange {
namespace {

class SlotsOfWindows : public testing::Test {
 protected:
  SlotsOfWindows() { slots_.prepare(); }

  static constexpr SlotGeometry kGeometry{4096, 4};
  std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(kGeometry.bytes());
  std::unique_ptr<Staging> staging_ = std::make_unique<Staging>();
  Slots slots_{*staging_, {memory_.get(), 0, kGeometry.bytes()}, kGeometry};
};

TEST_F(SlotsOfWindows, GoToTheFirstWindowThatHasNone) {
  for (std::int64_t window = 0; window < 4; ++window) EXPECT_TRUE(slots_.is_free(window));
  EXPECT_FALSE(slots_.is_free(4));
  std::byte* const last = slots_.bytes(3);
  slots_.pass_on(3);
  EXPECT_FALSE(slots_.is_free(3));
  EXPECT_TRUE(slots_.is_free(4));
  EXPECT_EQ(slots_.bytes(4), last);
  // A window that keeps its slot keeps no other from getting one.
  for (std::int64_t window = 4; window < 100; ++window) {
    slots_.pass_on(window);
    EXPECT_TRUE(slots_.is_free(window + 1));
    EXPECT_FALSE(slots_.is_free(window + 2));
    EXPECT_EQ(slots_.bytes(window + 1), last);
  }
  EXPECT_TRUE(slots_.is_free(0));
}

TEST_F(SlotsOfWindows, AreLoadedForOneWindowOnly) {
  slots_.set_loaded(0, 4096, 0);
  EXPECT_TRUE(slots_.is_loaded(0));
  EXPECT_FALSE(slots_.is_loaded(1));
  slots_.pass_on(0);
  EXPECT_FALSE(slots_.is_loaded(0));
  EXPECT_FALSE(slots_.is_loaded(4));
  EXPECT_FALSE(slots_.is_loaded(1000)) << "it has no slot";
}

TEST_F(SlotsOfWindows, AreGivenAnewFromTheNextWindowOn) {
  for (const std::int64_t window : {1, 3, 0, 2}) slots_.pass_on(window);
  staging_->next.store(4);
  slots_.prepare();
  for (std::int64_t window = 4; window < 8; ++window) EXPECT_TRUE(slots_.is_free(window));
  EXPECT_FALSE(slots_.is_free(8));
}

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
