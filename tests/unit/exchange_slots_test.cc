#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

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
  for (std::int64_t window = 0; window < 4; ++window) EXPECT_TRUE(slots_.has_slot(window));
  EXPECT_FALSE(slots_.has_slot(4));
  std::byte* const last = slots_.bytes(3);
  slots_.pass_on(3);
  EXPECT_FALSE(slots_.has_slot(3));
  EXPECT_TRUE(slots_.has_slot(4));
  EXPECT_EQ(slots_.bytes(4), last);
  // A window that keeps its slot keeps no other from getting one.
  for (std::int64_t window = 4; window < 100; ++window) {
    slots_.pass_on(window);
    EXPECT_TRUE(slots_.has_slot(window + 1));
    EXPECT_FALSE(slots_.has_slot(window + 2));
    EXPECT_EQ(slots_.bytes(window + 1), last);
  }
  EXPECT_TRUE(slots_.has_slot(0));
}

TEST_F(SlotsOfWindows, TellWhichARankHasMapped) {
  EXPECT_EQ(staging_->populated.load(), 0U);
  slots_.map(1);
  EXPECT_EQ(staging_->populated.load(), 2U);
  Slots of_another{*staging_, slots_.memory(), kGeometry};
  of_another.map(1);
  of_another.map(3);
  EXPECT_EQ(staging_->populated.load(), 10U);
  slots_.prepare();
  EXPECT_EQ(staging_->populated.load(), 0U) << "another file may get other memory";
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

/// Who looks for a window while another passes it on finds its slot, or none: never another place.
TEST_F(SlotsOfWindows, MayBeLookedForWhileTheyArePassedOn) {
  constexpr std::int64_t kWindows = 20'000;
  std::atomic<std::int64_t> done = 0;
  std::jthread looking([&] {
    const Slots mine(*staging_, slots_.memory(), kGeometry);
    const auto begin = staging_->slots.begin();
    while (true) {
      const std::int64_t window = done.load();
      if (window == kWindows) return;
      const Slot* const slot = mine.find_slot(window);
      if (slot == nullptr) continue;
      ASSERT_GE(slot, begin);
      ASSERT_LT(slot, begin + kGeometry.count);
      ASSERT_EQ(slot->arrived.load(), 0);
    }
  });
  for (std::int64_t window = 0; window < kWindows; ++window) {
    slots_.pass_on(window);
    done.store(window + 1);
  }
}

TEST_F(SlotsOfWindows, AreGivenAnewFromTheNextWindowOn) {
  for (const std::int64_t window : {1, 3, 0, 2}) slots_.pass_on(window);
  staging_->next.store(4);
  slots_.prepare();
  for (std::int64_t window = 4; window < 8; ++window) EXPECT_TRUE(slots_.has_slot(window));
  EXPECT_FALSE(slots_.has_slot(8));
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
