#include <string>

#include "unit/made_node.h"

namespace headrace::record {
namespace {

class LastCalls : public MadeNode {};

/// Clocks as they are on most machines.
struct SteadyCounter {
  SteadyCounter() { has_steady_counter = true; }
  ~SteadyCounter() { has_steady_counter = false; }
  SteadyCounter(const SteadyCounter&) = delete;
  SteadyCounter& operator=(const SteadyCounter&) = delete;
};

/// A rank's process that is no more.
void end_process(MadeImage& made) {
  made.image->header().process_start -= 1;
}

TEST_F(LastCalls, HaveCallsThatHaveNotEnded) {
  const SteadyCounter steady;
  MadeImage& waiting = rank(0);
  const std::uint32_t world = waiting.world(2);
  waiting.call("MPI_Send", CallClass::point_to_point, world, 0, 50);
  const std::uint32_t receive = waiting.procedure("MPI_Recv", CallClass::point_to_point);
  const auto outer = waiting.thread->open_call().enter(receive, kNone, 1200, &waiting);
  MadeImage& computing = rank(1);
  computing.call("MPI_Barrier", CallClass::collective, world, 0, 100);
  const int frame = 0;
  computing.thread->open_call().leave(computing.thread->open_call().enter(
      computing.procedure("MPI_Barrier", CallClass::collective), kNone, 1100, &frame));
  gather({1600, 5300});
  ASSERT_EQ(tables_[Table::last_calls].rows, 2U);
  const auto last = rows<LastCallsRow>(Table::last_calls);
  EXPECT_EQ(last[0].open, 1);
  EXPECT_EQ(text(last[0].procedure), "MPI_Recv");
  EXPECT_EQ(last[0].rank, 0);
  EXPECT_EQ(last[0].time, 200) << "two ticks are a nanosecond";
  EXPECT_EQ(last[1].open, 0);
  EXPECT_EQ(text(last[1].procedure), "MPI_Barrier");
  EXPECT_EQ(last[1].rank, 1);
  EXPECT_EQ(last[1].time, 200) << "since 1200";
  EXPECT_EQ(rows<RanksRow>(Table::ranks).at(0).run, 300) << "until now";
  waiting.thread->open_call().leave(outer);
}

TEST_F(LastCalls, HaveTheCallThatTheLibraryCallsBackFrom) {
  const SteadyCounter steady;
  MadeImage& made = rank(0, 1);
  const int frames[2] = {};
  const auto outer = made.thread->open_call().enter(
      made.procedure("MPI_Comm_free", CallClass::other), kNone, 1100, &frames[1]);
  EXPECT_EQ(outer.frame, nullptr);
  const auto inner = made.thread->open_call().enter(
      made.procedure("MPI_Barrier", CallClass::collective), kNone, 1200, &frames[0]);
  EXPECT_EQ(inner.frame, &frames[1]);
  made.thread->open_call().leave(inner);
  gather({1600, 5300});
  const auto last = rows<LastCallsRow>(Table::last_calls);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(text(last[0].procedure), "MPI_Comm_free");
  EXPECT_EQ(last[0].time, 250);
}

TEST_F(LastCalls, ForgetACallThatAnExceptionLeft) {
  const SteadyCounter steady;
  MadeImage& made = rank(0, 1);
  const int frames[2] = {};
  const std::uint32_t barrier = made.procedure("MPI_Barrier", CallClass::collective);
  made.thread->open_call().enter(barrier, kNone, 1100, &frames[0]);
  made.thread->open_call().leave(made.thread->open_call().enter(barrier, kNone, 1200, &frames[0]));
  gather({1600, 5300});
  EXPECT_EQ(rows<LastCallsRow>(Table::last_calls).at(0).open, 0);
}

TEST_F(LastCalls, MeasureDeadRanksUntilTheNodeWasLastHeardOf) {
  const SteadyCounter steady;
  MadeImage& first = rank(0);
  first.call("MPI_Barrier", CallClass::collective, first.world(2), 0, 100);
  MadeImage& second = rank(1);
  const std::uint32_t receive = second.procedure("MPI_Recv", CallClass::point_to_point);
  second.thread->open_call().enter(receive, kNone, 1400, &second);
  end_process(first);
  end_process(second);
  gather({2000, 5500});
  for (const RanksRow& row : rows<RanksRow>(Table::ranks)) {
    EXPECT_EQ(row.run, 200);
    EXPECT_EQ(row.unheard, 300);
    EXPECT_EQ(row.state, 2);
  }
}

TEST_F(LastCalls, MeasureDeadRanksUntilAnotherOneAborts) {
  const SteadyCounter steady;
  MadeImage& first = rank(0);
  first.call("MPI_Barrier", CallClass::collective, first.world(2), 0, 100);
  rank(1).finish(RankState::aborted);
  end_process(first);
  gather({3'000'001'000, 1'500'005'000});
  const RanksRow row = rows<RanksRow>(Table::ranks).at(0);
  EXPECT_EQ(row.run, 1'000'000'000);
  EXPECT_EQ(row.unheard, 0);
}

TEST_F(LastCalls, DoNotKnowForHowLongARankOfAnotherBootWasUnheard) {
  end_process(rank(0, 1));
  gather({});
  EXPECT_EQ(rows<RanksRow>(Table::ranks).at(0).unheard, -1);
}

/// It came to MPI_Finalize a second after it began, and is in it.
void finalize(MadeImage& made) {
  made.thread->open_call().enter(made.procedure("MPI_Finalize", CallClass::other), kNone,
                                 MadeImage::kBeginTicks + 2'000'000'000, &made);
  made.finish();
}

TEST_F(LastCalls, HaveMpiFinalizeIfOthersHaveNotComeToIt) {
  const SteadyCounter steady;
  finalize(rank(0));
  rank(1).call("MPI_Barrier", CallClass::collective, kNone, 0, 100);
  gather({3'000'001'000, 1'500'005'000});
  const auto last = rows<LastCallsRow>(Table::last_calls);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(text(last[0].procedure), "MPI_Finalize");
  EXPECT_EQ(last[0].time, 500'000'000);
}

TEST_F(LastCalls, LackMpiFinalizeIfAllHaveComeToIt) {
  const SteadyCounter steady;
  finalize(rank(0));
  finalize(rank(1));
  gather({3'000'001'000, 1'500'005'000});
  EXPECT_EQ(tables_[Table::last_calls].rows, 0U);
}

}  // namespace
}  // namespace headrace::record
