#include <gtest/gtest.h>

#include "file/io_statistics.h"

namespace headrace::file {
namespace {

TEST(IoStatistics, CountFromTheOpenOn) {
  record::FileCounts begin{};
  begin.writes = 5;
  begin.written = 100;
  begin.ticks = 1000;
  begin.write_requests.requests = 2;
  begin.write_requests.collective = 2;
  record::FileCounts now = begin;
  now.writes = 9;
  now.collective_writes = 3;
  now.written = 350;
  now.ticks = 3000;
  now.wait = 500;
  now.exchange = 900;
  now.meet = 200;
  now.send = 300;
  now.store = 600;
  now.reading = 400;
  now.write_requests.requests = 4;
  now.write_requests.collective = 3;
  const IoSums sums = sums_of(begin, now);
  EXPECT_EQ(sums.calls.active_ranks, 1);
  EXPECT_EQ(sums.calls.writes, 4);
  EXPECT_EQ(sums.calls.collective_writes, 3);
  EXPECT_EQ(sums.calls.written, 250);
  EXPECT_EQ(sums.to_storage.requests, 2);
  EXPECT_EQ(sums.to_storage.aggregators, 1);
  EXPECT_EQ(sums.to_storage.independent, 1);
  EXPECT_EQ(sums.from_storage.independent, 0);
  const OwnTimes times = times_of(begin, now, 0.5);
  EXPECT_EQ(times[in_calls], 1000);
  EXPECT_EQ(times[waiting], 250);
  EXPECT_EQ(times[meeting], 100);
  EXPECT_EQ(times[sending], 150);
  EXPECT_EQ(times[exchanging], 200);
  EXPECT_EQ(times[reading], 200);
  EXPECT_EQ(times[writing], 100);
}

TEST(IoStatistics, AddUpOverRanks) {
  IoSums sums;
  sums.calls = {.active_ranks = 1, .writes = 2};
  sums.to_storage = {.aggregators = 1, .bytes = 10, .small = 1, .gap_bytes = 4};
  IoSums other;
  other.calls.writes = 3;
  other.to_storage = {.aggregators = 1, .bytes = 5, .repeated = 2, .gap_bytes = 3};
  sums.combine(other);
  EXPECT_EQ(sums.calls.active_ranks, 1);
  EXPECT_EQ(sums.calls.writes, 5);
  EXPECT_EQ(sums.to_storage.aggregators, 2);
  EXPECT_EQ(sums.to_storage.bytes, 15);
  EXPECT_EQ(sums.to_storage.small, 1);
  EXPECT_EQ(sums.to_storage.repeated, 2);
  EXPECT_EQ(sums.to_storage.gap_bytes, 7);
  IoTimes times = IoTimes::of({10, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  times.combine(IoTimes::of({4, 5, 1, 0, 9, 4, 5, 6, 7, 9}));
  EXPECT_EQ(times.least[in_calls], 4);
  EXPECT_EQ(times.greatest[in_calls], 10);
  EXPECT_EQ(times.sum[writing], 17);
}

TEST(IoStatistics, AddUpFilesOfOneRankOverRanksThatHaveSome) {
  LoneSums all;
  LoneSums one;
  one.ranks = 1;
  one.files = 3;
  one.times = IoTimes::of({10});
  one.sums.calls.writes = 7;
  all.combine(LoneSums());
  all.combine(one);
  one.files = 2;
  one.times = IoTimes::of({30});
  all.combine(one);
  all.combine(LoneSums());
  EXPECT_EQ(all.ranks, 2);
  EXPECT_EQ(all.files, 5);
  EXPECT_EQ(all.sums.calls.writes, 14);
  EXPECT_EQ(all.times.least[in_calls], 10);
  EXPECT_EQ(all.times.greatest[in_calls], 30);
  const auto lines = lone_statistics_lines("/a/0", all);
  EXPECT_EQ(lines[0], "I/O of 5 files of one rank each, on 2 ranks, such as '/a/0'");
}

TEST(IoStatistics, AreLinesForPeople) {
  const IoShape shape = {"/a\n", 4, 1, 2, 1 << 20, {1 << 20, 4}};
  IoSums sums;
  sums.calls = {.active_ranks = 2, .writes = 13, .collective_writes = 12, .written = 800};
  sums.to_storage = {.aggregators = 1,
                     .independent = 1,
                     .bytes = 800,
                     .requests = 2,
                     .collective = 1,
                     .small = 2,
                     .unaligned = 2,
                     .gaps = 1,
                     .gap_bytes = 9};
  const std::vector<std::string> lines = statistics_lines(shape, sums);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            "I/O of '/a?': 4 ranks on 1 node, 2 of them moved bytes; opened 2 times; 4 stripes of "
            "1.0 MiB");
  EXPECT_EQ(lines[1],
            "  writes: 3 collective calls, 1 independent ones, 800 bytes; to storage: 2 requests, "
            "800 bytes, 400 B on average");
  EXPECT_EQ(lines[2],
            "    requests: 0 of 1.0 MiB, 2 smaller, 2 not aligned to it, 0 repeated; by 1 rank in "
            "collective calls, 1 in others; 1 gap of 9 bytes left out within buffers");
  EXPECT_EQ(lines[3],
            "  reads: 0 collective calls, 0 independent ones, 0 bytes; from storage: 0 requests, 0 "
            "bytes");
}

TEST(IoStatistics, TellTimesOfPhasesWhereThereAreCollectiveCalls) {
  const IoShape shape{.path = "/a", .ranks = 1, .nodes = 1};
  OwnTimes own{};
  own[in_calls] = 2'000'000'000;
  const std::vector<std::string> alone = timer_lines(shape, IoTimes::of(own));
  ASSERT_EQ(alone.size(), 5U);
  EXPECT_EQ(alone[1], "  in all calls        2.000000   2.000000   2.000000");
  EXPECT_EQ(alone[4], "  of collective calls: there were none");
  own[writing] = 1'000'000'000;
  const std::vector<std::string> timed = timer_lines(shape, IoTimes::of(own));
  ASSERT_EQ(timed.size(), 2 + kIoTimes);
  EXPECT_EQ(timed[4], "  of collective calls:");
  EXPECT_EQ(timed.back(), "    writing           1.000000   1.000000   1.000000");
}

TEST(IoStatistics, TellNeighboursThatDidTheSameTogether) {
  std::vector<RankIo> ranks(4);
  ranks[3].sums.calls.writes = 1;
  const auto lines = rank_lines(ranks);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("  each of ranks 0 to 2 on ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("  rank 3 on ")) << lines[1];
  std::vector<RankIo> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].sums.calls.writes = static_cast<std::int64_t>(i);
  }
  const auto few = rank_lines(many);
  ASSERT_EQ(few.size(), 65U);
  EXPECT_EQ(few.back(), "  ranks 64 to 999 are in the record alone");
}

}  // namespace
}  // namespace headrace::file
