#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "device/detection.h"
#include "support/gpu/fake_driver.h"

namespace headrace::device::test {
namespace {

using Bytes = std::vector<std::byte>;

TEST(Detection, FindsNothingWhereNoDriverIs) {
  int host = 0;
  EXPECT_FALSE(find(&host));
  EXPECT_FALSE(find(nullptr));
  EXPECT_FALSE(is_driver_known());
}

TEST(Detection, FindsWhatTheDriverKnows) {
  FakeDriver& driver = FakeDriver::installed();
  EXPECT_TRUE(is_driver_known());
  std::byte* const memory = driver.allocate(Bytes(100));
  const std::optional<Place> place = find(memory + 99);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->driver, &driver);
  int host = 0;
  EXPECT_FALSE(find(&host));
  driver.free(memory);
  EXPECT_FALSE(find(memory));
}

TEST(Detection, AsksOnceForDataInOnePiece) {
  FakeDriver& driver = FakeDriver::installed();
  Bytes host(1000);
  const int before = driver.queries();
  EXPECT_FALSE(find_data(host.data(), view::make_basic(1000)));
  EXPECT_EQ(driver.queries(), before + 1);
}

/// A part in a device's memory, which begins or ends data that is otherwise the host's.
TEST(Detection, FindsAPartOfData) {
  FakeDriver& driver = FakeDriver::installed();
  Bytes host(100);
  std::byte* const memory = driver.allocate(Bytes(100));
  const std::int64_t apart = memory - host.data();
  for (const auto& places :
       {std::array<std::int64_t, 3>{0, 40, apart}, std::array<std::int64_t, 3>{apart, 0, 40},
        std::array<std::int64_t, 3>{0, apart + 50, 60}}) {
    const view::TypePtr type = view::make_hindexed_block(1, places, view::make_basic(4));
    EXPECT_TRUE(find_data(host.data(), type)) << places[0] << ", " << places[1];
  }
  driver.free(memory);
}

TEST(Detection, LooksAtABoundedNumberOfPieces) {
  FakeDriver& driver = FakeDriver::installed();
  Bytes host(1);
  const view::TypePtr type = view::make_hvector(100'000, 1, 1 << 20, view::make_basic(4));
  const int before = driver.queries();
  EXPECT_FALSE(find_data(host.data(), type));
  EXPECT_LE(driver.queries() - before, 20);
}

TEST(Detection, IsSafeFromManyThreads) {
  FakeDriver& driver = FakeDriver::installed();
  std::byte* const memory = driver.allocate(Bytes(100));
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { found += find(memory) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 8);
  driver.free(memory);
}

}  // namespace
}  // namespace headrace::device::test
