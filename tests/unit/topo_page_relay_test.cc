#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "topo/page_relay.h"
#include "unit/two_cores.h"

namespace headrace::topo {
namespace {

class PageRelayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cores_.size() < 2) GTEST_SKIP() << "needs two cores";
  }

  /// Both ranks measure, each as a thread with a core of its own.
  std::int64_t measure(std::uint64_t measurement) {
    std::int64_t nanoseconds = 0;
    std::thread first([&] {
      stay_on(cores_[0]);
      nanoseconds = time_pages(*relay_, measurement);
    });
    std::thread last([&] {
      stay_on(cores_[1]);
      answer_with_pages(*relay_, measurement);
    });
    first.join();
    last.join();
    return nanoseconds;
  }

  /// The same again and again: one thread may start after the other has given up.
  std::int64_t measure_until_known(std::uint64_t& measurement) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::int64_t nanoseconds = 0;
    while (nanoseconds == 0 && std::chrono::steady_clock::now() < end) {
      nanoseconds = measure(++measurement);
    }
    return nanoseconds;
  }

  const std::vector<int> cores_ = two_cores();
  std::unique_ptr<PageRelay> relay_ = std::make_unique<PageRelay>();
};

TEST_F(PageRelayTest, IsTheTimeOfAPage) {
  std::uint64_t measurement = 0;
  const std::int64_t nanoseconds = measure_until_known(measurement);
  EXPECT_GT(nanoseconds, 0);
  EXPECT_LT(nanoseconds, 100'000);
}

TEST_F(PageRelayTest, NobodyWaitsForLongWhereTheOtherDoesNotCome) {
  EXPECT_EQ(time_pages(*relay_, 1), 0);
  answer_with_pages(*relay_, 2);
}

TEST_F(PageRelayTest, WhoComesLateDoesNotSpoilTheNextMeasurement) {
  ASSERT_EQ(time_pages(*relay_, 1), 0);
  answer_with_pages(*relay_, 1);  // finds the page that the first rank has sent out
  std::uint64_t measurement = 1;
  EXPECT_GT(measure_until_known(measurement), 0);
  // What has come back is of the measurement before: no answer to this one.
  EXPECT_EQ(time_pages(*relay_, measurement + 1), 0);
}

}  // namespace
}  // namespace headrace::topo
