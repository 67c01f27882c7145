#include <dlfcn.h>
#include <gtest/gtest.h>

#include "record/exit_lines.h"
#include "record/run_findings.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two ranks of 10 s: one computes for 9 s and sends, the other for 5 s and waits.
struct Made {
  std::vector<std::string> texts{"MPI_Send", "MPI_Recv", "MPI_Init", "app", "f.py", "solve"};
  std::vector<RanksRow> ranks;
  std::vector<CallsRow> calls;
  std::vector<PathsRow> paths{{-1, 1, 0, 5, 12}, {0, 0, 0x1234, -1, 0}};
  std::vector<ModulesRow> modules{{3, -1}, {4, -1}};

  Made() {
    ranks.resize(2);
    for (int rank = 0; rank < 2; ++rank) {
      ranks[static_cast<std::size_t>(rank)].rank = rank;
      ranks[static_cast<std::size_t>(rank)].run = 10 * kSecond;
      ranks[static_cast<std::size_t>(rank)].threads = 1;
      call(rank, 2, -1, 100 * kSecond);
    }
    call(0, 0, 0, kSecond);
    call(1, 1, 1, 5 * kSecond);
  }
  void call(std::int64_t rank, std::int64_t procedure, std::int64_t path, std::int64_t time) {
    CallsRow row;
    row.rank = rank;
    row.procedure = procedure;
    row.path = path;
    row.time = time;
    calls.push_back(row);
  }
  NodeView view() const { return {ranks, calls, paths, modules, texts}; }
};

TEST(RunFindings, AddUpAsTheReportDoes) {
  const Made made;
  const RunTimes times = times_of_run(made.view());
  EXPECT_EQ(times.runs, 20 * kSecond);
  EXPECT_EQ(times.longest_run, 10 * kSecond);
  EXPECT_EQ(times.in_mpi, 6 * kSecond) << "MPI_Init lies before the run";
  EXPECT_EQ(times.useful, 14 * kSecond);
  EXPECT_EQ(times.most_useful, 9 * kSecond);
  const Costliest first = costliest(made.view());
  EXPECT_EQ(first.procedure, "MPI_Recv");
  EXPECT_EQ(first.time, 5 * kSecond);
  ASSERT_EQ(first.site.size(), 2U);
  EXPECT_EQ(first.site[0].file, "app");
  EXPECT_EQ(first.site[0].offset, 0x1234);
  EXPECT_EQ(first.site[1].function, "solve");
  EXPECT_EQ(verdict_of(times, 2, &first),
            "Parallel efficiency is 70%, below POP's 80%: ranks compute unequally long (load "
            "balance 78%); MPI takes 30% of the time, MPI_Recv alone 25%.");
  EXPECT_EQ(verdict_of(times, 2, nullptr),
            "Parallel efficiency is 70%, below POP's 80%: ranks compute unequally long (load "
            "balance 78%); MPI takes 30% of the time.");
  EXPECT_EQ(efficiency_of(times, 2),
            "parallel efficiency 0.700 = load balance 0.778 x communication efficiency 0.900 "
            "(POP)");
}

TEST(RunFindings, OfSeveralThreadsTheMeanCounts) {
  Made made;
  made.ranks[1].threads = 5;
  EXPECT_EQ(times_of_run(made.view()).in_mpi, 2 * kSecond);
}

TEST(RunFindings, SayWhatCannotBeSaid) {
  EXPECT_EQ(verdict_of({}, 0, nullptr),
            "The record has no time outside MPI, so nothing can be said of efficiency.");
  EXPECT_EQ(efficiency_of({}, 4), "");
  const Costliest none;
  EXPECT_EQ(verdict_of({10, 10, 0, 10, 10}, 1, &none),
            "Parallel efficiency is 100%, which is good; no time was spent in MPI.");
}

TEST(ExitLines, AreSixAtMostAndLoseNothing) {
  const Made made;
  JobStory story;
  story.times = times_of_run(made.view());
  story.ranks = 2;
  story.nodes = 1;
  story.first = costliest(made.view());
  story.files = {"rank 0 opened 1 file", "writes: staged", "reads: direct", "1 call failed"};
  story.record = "/scratch/app.hrc";
  const std::vector<std::string> lines = exit_lines(story);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[2], "rank 0 opened 1 file");
  EXPECT_EQ(lines[3], "writes: staged; reads: direct; 1 call failed");
  EXPECT_EQ(lines[4],
            "most time in MPI at one place: MPI_Recv, 5.000 s of all ranks, called by "
            "app+0x1234 < solve:12");
  EXPECT_EQ(lines[5], "record: /scratch/app.hrc (headrace report shows it)");
  story.lacks = "of 2 ranks 1 came to MPI_Finalize";
  EXPECT_EQ(exit_lines(story)[0].find(
                "The record is INCOMPLETE: of 2 ranks 1 came to MPI_Finalize. Parallel"),
            0U);
}

/// A frame in a function of this process.
FoundFrame frame_in(const void* function) {
  Dl_info info{};
  EXPECT_NE(::dladdr(function, &info), 0);
  const auto distance =
      static_cast<const char*>(function) - static_cast<const char*>(info.dli_fbase);
  return {info.dli_fname, distance + 1, {}, 0};
}

TEST(ExitLines, EndWhereTheSystemStartsTheProgram) {
  const FoundFrame start = frame_in(::dlsym(RTLD_DEFAULT, "__libc_start_main"));
  FoundFrame unnamed = start;
  unnamed.offset = 1;  // no function begins there
  JobStory story;
  story.nodes = 1;
  story.first.site_procedure = "MPI_Recv";
  story.first.site_time = kSecond;
  story.first.site = {{"/app", 0x11d0, {}, 0}, unnamed, start, {"/app", 0x1090, {}, 0}};
  EXPECT_NE(exit_lines(story).back().find("called by app+0x11d0"), std::string::npos);
  EXPECT_EQ(exit_lines(story).back().find('<'), std::string::npos) << exit_lines(story).back();
  story.first.site.insert(story.first.site.begin() + 1, {"/app", 0x2000, {}, 0});
  EXPECT_TRUE(exit_lines(story).back().ends_with("app+0x11d0 < app+0x2000"));
}

}  // namespace
}  // namespace headrace::record
