#include <gtest/gtest.h>

#include "file/io_statistics.h"

namespace headrace::file {
namespace {

TEST(IoStatistics, JudgeRequestsByTheirUnit) {
  StoreRequests requests{};
  requests.note(Direction::write, 10, 10);  // the unit is not known yet
  requests.unit = 4096;
  requests.note(Direction::write, 0, 8192);
  requests.note(Direction::write, 4096, 100);
  requests.note(Direction::read, 1, 8191);
  requests.note(Direction::read, 4095, 4096);
  requests.note(Direction::read, 5, 0);  // nothing came
  EXPECT_EQ(requests.writes, 3);
  EXPECT_EQ(requests.reads, 3);
  EXPECT_EQ(requests.unaligned, 3);
  EXPECT_EQ(requests.small, 1);
}

TEST(IoStatistics, CountFromTheOpenOn) {
  record::FileCounts begin{};
  begin.writes = 5;
  begin.written = 100;
  begin.ticks = 1000;
  record::FileCounts now = begin;
  now.writes = 9;
  now.collective_writes = 3;
  now.written = 350;
  now.ticks = 3000;
  now.wait = 500;
  const IoSums sums = sums_of(begin, now, StoreRequests{});
  EXPECT_EQ(sums.active_ranks, 0);
  EXPECT_EQ(sums.writes, 4);
  EXPECT_EQ(sums.collective_writes, 3);
  EXPECT_EQ(sums.written, 250);
  const auto times = times_of(begin, now, 0.5);
  EXPECT_EQ(times[in_calls], 1000);
  EXPECT_EQ(times[waiting], 250);
  EXPECT_EQ(times[storing], 0);
}

TEST(IoStatistics, AddUpOverRanks) {
  IoSums sums{.active_ranks = 1, .writes = 2, .store_written = 10, .small = 1};
  sums.combine({.active_ranks = 0, .writes = 3, .store_written = 5});
  EXPECT_EQ(sums.active_ranks, 1);
  EXPECT_EQ(sums.writes, 5);
  EXPECT_EQ(sums.store_written, 15);
  EXPECT_EQ(sums.small, 1);
  IoTimes times = IoTimes::of({10, 0, 1, 2, 3});
  times.combine(IoTimes::of({4, 5, 1, 0, 9}));
  EXPECT_EQ(times.least[in_calls], 4);
  EXPECT_EQ(times.greatest[in_calls], 10);
  EXPECT_EQ(times.sum[storing], 12);
}

TEST(IoStatistics, AreLinesForPeople) {
  const IoShape shape = {"/a", 4, 1, 4096};
  IoSums sums{.active_ranks = 2, .writes = 13, .collective_writes = 12, .written = 800};
  sums.store_writes = 2;
  sums.store_written = 800;
  sums.small = 1;
  const std::vector<std::string> lines = statistics_lines(shape, sums);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "I/O of '/a': 4 ranks on 1 node, 2 of them moved bytes");
  EXPECT_EQ(lines[1],
            "  writes: 3 collective calls, 1 independent ones, 800 bytes; to storage: 2 requests, "
            "800 bytes, 400 B on average");
  EXPECT_EQ(lines[2],
            "  reads: 0 collective calls, 0 independent ones, 0 bytes; from storage: 0 requests, 0 "
            "bytes");
  const std::vector<std::string> timed =
      timer_lines(shape, IoTimes::of({2'000'000'000, 1, 0, 0, 0}));
  ASSERT_EQ(timed.size(), 1 + kIoTimes);
  EXPECT_NE(timed[1].find("in all calls"), std::string::npos);
  EXPECT_NE(timed[1].find("2.000000"), std::string::npos);
}

}  // namespace
}  // namespace headrace::file
