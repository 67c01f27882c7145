#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <optional>
#include <thread>

#include "file/viewed_stretch.h"
#include "view/wide.h"

namespace headrace::file {
namespace {

TEST(ViewedStretchTest, IsWhereAContiguousViewShowsItsData) {
  const auto etype = view::make_basic(4);
  const ViewedStretch stretch =
      viewed_stretch_of({.displacement = 100, .etype = etype, .filetype = etype});
  EXPECT_EQ(stretch.unit, 4);
  EXPECT_EQ(stretch.place_of(0, 8), 100);
  EXPECT_EQ(stretch.place_of(5, 8), 120);
  EXPECT_EQ(stretch.place_of(0, 6), std::nullopt);  // no whole etypes
}

TEST(ViewedStretchTest, AViewWithGapsIsNone) {
  const auto etype = view::make_basic(4);
  const auto spread = view::make_resized(etype, 0, 8);
  const ViewedStretch stretch =
      viewed_stretch_of({.displacement = 0, .etype = etype, .filetype = spread});
  EXPECT_EQ(stretch.place_of(0, 0), std::nullopt);
  EXPECT_EQ(stretch.place_of(0, 4), std::nullopt);
}

TEST(ViewedStretchTest, NothingIsBeyondTheLargestOffset) {
  const ViewedStretch stretch{.unit = 8, .begin = 0};
  EXPECT_EQ(stretch.place_of(-1, 8), std::nullopt);
  EXPECT_EQ(stretch.place_of(view::kLargest / 8, 8), std::nullopt);
  EXPECT_EQ(stretch.place_of(std::numeric_limits<std::int64_t>::max(), 8), std::nullopt);
}

TEST(SharedStretchTest, IsReadAsItWasSet) {
  SharedStretch shared;
  std::atomic<bool> is_over = false;
  std::int64_t mixed = 0;
  std::thread reader([&] {
    for (int read = 0; read < 2'000'000; ++read) {
      const ViewedStretch stretch = shared.get();
      if (stretch.begin != stretch.unit * 1'000) mixed += 1;
    }
    is_over = true;
  });
  for (std::int64_t unit = 0; !is_over; unit = (unit + 1) % 7) shared.set({unit, unit * 1'000});
  reader.join();
  EXPECT_EQ(mixed, 0);
}

}  // namespace
}  // namespace headrace::file
