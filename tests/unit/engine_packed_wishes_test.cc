#include <gtest/gtest.h>

#include <limits>

#include "engine/packed_wishes.h"

namespace headrace::engine {
namespace {

TEST(PackedWishes, TellOfAggregators) {
  HintValues wanted;
  wanted.alignment = plan::Alignment::stripes;
  wanted.aggregators = {.count = 1'000'000, .multiplier = 12, .most_for_object = 3};
  wanted.lock_ahead = true;
  Agreement agreement;
  unpack_aggregators(pack_aggregators(wanted), agreement);
  EXPECT_EQ(agreement.alignment, plan::Alignment::stripes);
  EXPECT_EQ(agreement.aggregators.count, 1'000'000);
  EXPECT_EQ(agreement.aggregators.multiplier, 12);
  EXPECT_EQ(agreement.aggregators.most_for_object, 3);
  EXPECT_TRUE(agreement.lock_ahead);
}

TEST(PackedWishes, HoldHowMuchIsWished) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  HintValues wanted;
  wanted.aggregators = {.count = kMost, .multiplier = kMost, .most_for_object = kMost};
  EXPECT_GE(pack_aggregators(wanted), 0);
  Agreement agreement;
  unpack_aggregators(pack_aggregators(wanted), agreement);
  EXPECT_GT(agreement.aggregators.count, 131'072);
  EXPECT_GT(agreement.aggregators.multiplier, 1'000);
  EXPECT_GT(agreement.aggregators.most_for_object, 1'000);
  EXPECT_FALSE(agreement.lock_ahead);
}

TEST(PackedWishes, AboutStripesCountWhereTheFileSystemTellsNone) {
  HintValues wanted;
  wanted.striping_unit = 1 << 16;
  wanted.striping_factor = 4;
  const std::int64_t packed = pack_stripes(wanted);
  EXPECT_EQ(stripes_of({}, packed), (Stripes{1 << 16, 4}));
  EXPECT_EQ(stripes_of({.stripes = {1 << 20, 8}}, packed), (Stripes{1 << 20, 8}));
  EXPECT_EQ(stripes_of({.stripes = {1 << 20, 1}, .is_endless = true}, packed),
            (Stripes{1 << 20, 0}));
  EXPECT_EQ(stripes_of({.stripes = {1000, 8}}, packed), (Stripes{1 << 16, 4}));
  wanted.striping_unit = 1000;
  EXPECT_EQ(stripes_of({}, pack_stripes(wanted)), Stripes{});
}

}  // namespace
}  // namespace headrace::engine
