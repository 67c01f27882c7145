#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "record/node_tables.h"
#include "record/plain_decisions.h"
#include "unit/made_images.h"
#include "unit/made_node.h"

namespace headrace::record {
namespace {

class NodeTables : public MadeNode {};

[[gnu::noipa]] void twice(MadeImage& made, std::uint32_t world) {
  made.call("MPI_Send", CallClass::point_to_point, world, 20, 100);
  made.call("MPI_Send", CallClass::point_to_point, world, 20, 100);
}

[[gnu::noipa]] void repeat(MadeImage& made, std::uint32_t world, int times) {
#pragma GCC unroll 1
  for (int i = 0; i < times; ++i) twice(made, world);
}

TEST_F(NodeTables, HaveTheCallPathsOfAllRanksOnce) {
  rank(0);
  rank(1).note(NoteKind::communicator, {"0", "1", "1", "MPI_COMM_SELF"});  // shifts the numbers
  for (const auto& each : made_) {                                         // one call site for both
    repeat(*each, each->world(2), each->image->header().rank + 1);
    each->finish();
  }
  gather();
  const auto calls = rows<CallsRow>(Table::calls);
  ASSERT_EQ(calls.size(), 4U) << "two call sites, two ranks";
  EXPECT_EQ(calls[0].path, calls[1].path);
  EXPECT_EQ(calls[2].path, calls[3].path);
  EXPECT_NE(calls[0].path, calls[2].path);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(calls[i].rank, i % 2);
    EXPECT_EQ(text(calls[i].procedure), "MPI_Send");
    EXPECT_EQ(calls[i].class_, 0);
    EXPECT_EQ(calls[i].calls, i % 2 + 1);
    EXPECT_EQ(calls[i].bin1, i % 2 + 1);
    EXPECT_EQ(calls[i].time, 100 * (std::int64_t(i) % 2 + 1)) << "in ns, of two ticks each";
    EXPECT_EQ(calls[i].least, 100);
    EXPECT_EQ(calls[i].greatest, 100);
  }
  const auto paths = rows<PathsRow>(Table::paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_LT(paths[i].caller, static_cast<std::int64_t>(i));
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_FALSE(paths[i].caller == paths[k].caller && paths[i].module == paths[k].module &&
                   paths[i].offset == paths[k].offset);
    }
  }
  EXPECT_EQ(rows<CommunicatorsRow>(Table::communicators).size(), 2U);
  const auto modules = rows<ModulesRow>(Table::modules);
  EXPECT_TRUE(std::ranges::any_of(modules, [&](const ModulesRow& module) {
    return text(module.file).ends_with(program_invocation_short_name);
  }));
  EXPECT_EQ(tables_[Table::calls].node, 5U);
}

TEST_F(NodeTables, AddUpWhatIsAboutTheSame) {
  MadeImage& made = rank(0, 1);
  const std::uint32_t world = made.world(1);
  made.call("MPI_Send", CallClass::point_to_point, world, 20, 100);
  // A second row of the same path, as of a second thread's tables that were taken over.
  ExtentHeader* const rows_of = made.image->take(ExtentKind::rows, 0, sizeof(Row), 1);
  auto* const row = new (rows_of + 1) Row{};
  *row = {made.procedure("MPI_Recv", CallClass::point_to_point),
          kNone,
          kNone,
          0,
          1,
          2,
          6,
          6,
          6,
          0,
          {1},
          1};
  rows_of->used = 1;
  ExtentHeader* const again = made.image->take(ExtentKind::rows, 0, sizeof(Row), 1);
  new (again + 1) Row(*row);
  again->used = 1;
  made.finish();
  gather();
  const auto calls = rows<CallsRow>(Table::calls);
  ASSERT_EQ(calls.size(), 2U) << "rows without calls are left out";
  const CallsRow& received = text(calls[0].procedure) == "MPI_Recv" ? calls[0] : calls[1];
  EXPECT_EQ(received.calls, 2);
  EXPECT_EQ(received.sent, 2);
  EXPECT_EQ(received.received, 4);
  EXPECT_EQ(received.time, 6);
  EXPECT_EQ(received.least, 3);
  EXPECT_EQ(received.bin0, 2);
  EXPECT_EQ(received.path, -1);
  EXPECT_EQ(received.communicator, -1);
}

TEST_F(NodeTables, HaveNothingBelowZeroOfTornRows) {
  MadeImage& made = rank(0, 1);
  Row& row = made.call("MPI_Send", CallClass::point_to_point, made.world(1), 20, 100);
  row.ticks = -5;
  row.sent = INT64_MIN;
  row.least = INT64_MAX;
  row.greatest = -1;
  row.failed = -2;
  row.bins[3] = -9;
  made.thread->add_message(0, -7);
  made.finish();
  gather();
  const CallsRow call = rows<CallsRow>(Table::calls).at(0);
  EXPECT_EQ(call.calls, 1);
  for (const std::int64_t value :
       {call.time, call.sent, call.least, call.greatest, call.failed, call.bin3}) {
    EXPECT_EQ(value, 0);
  }
  EXPECT_EQ(rows<MatrixRow>(Table::matrix).at(0).sent, 0);
}

TEST_F(NodeTables, SayHowEachRankEnded) {
  rank(0, 4).finish();
  rank(1, 4).finish(RankState::aborted);
  rank(2, 4);  // this process, which runs
  rank(3, 4).image->header().process_start += 1;
  gather();
  const auto ranks = rows<RanksRow>(Table::ranks);
  ASSERT_EQ(ranks.size(), 4U);
  EXPECT_EQ(ranks[0].state, 1);
  EXPECT_EQ(ranks[1].state, 3);
  EXPECT_EQ(ranks[2].state, 0);
  EXPECT_EQ(ranks[3].state, 2) << "it was killed";
  EXPECT_EQ(record_.summary.ranks, 4);
  EXPECT_EQ(record_.summary.finalized, 1);
  EXPECT_FALSE(record_.summary.is_complete());
  EXPECT_EQ(ranks[0].run, 1'000'000'000);
  EXPECT_EQ(ranks[0].init, 7000);
  EXPECT_EQ(record_.summary.run, 1'000'000'000);
}

TEST_F(NodeTables, MeasureKilledRanksByTheClockAsItIsNow) {
  has_steady_counter = true;
  MadeImage& made = rank(0);
  made.call("MPI_Send", CallClass::point_to_point, made.world(2), 20, 100);
  gather({MadeImage::kBeginTicks + 4000, MadeImage::kBeginNs + 1000});
  EXPECT_EQ(rows<CallsRow>(Table::calls).at(0).time, 50) << "of four ticks a ns";
  EXPECT_EQ(rows<RanksRow>(Table::ranks).at(0).run, 1000) << "it runs";
  gather({MadeImage::kBeginTicks - 1, MadeImage::kBeginNs + 1000});
  EXPECT_EQ(rows<CallsRow>(Table::calls).at(0).time, 200) << "another boot: nothing is known";
  rank(1).finish();
  gather({MadeImage::kBeginTicks - 1, MadeImage::kBeginNs + 1000});
  EXPECT_EQ(rows<CallsRow>(Table::calls).at(0).time, 100) << "another rank's counter";
  made.image->header().has_steady_counter = 0;
  gather({MadeImage::kBeginTicks + 4000, MadeImage::kBeginNs + 1000});
  EXPECT_EQ(rows<CallsRow>(Table::calls).at(0).time, 200) << "its ticks are ns";
  has_steady_counter = false;
}

TEST_F(NodeTables, TellWhatTheRecorderTook) {
  MadeImage& made = rank(0, 1);
  for (int i = 0; i < 10; ++i) twice(made, made.world(1));
  made.finish();
  gather();
  const RanksRow row = rows<RanksRow>(Table::ranks).at(0);
  EXPECT_EQ(row.recorder, 400) << "20 calls of 20 ns";
  EXPECT_EQ(row.threads, 1);
  EXPECT_GE(row.unwinds, 2);
}

TEST_F(NodeTables, HaveMessagesByPeer) {
  for (int i = 0; i < 2; ++i) {
    MadeImage& made = rank(i);
    for (const int peer : {1, 0, -2, 1}) made.thread->add_message(peer, 10);
    made.finish();
  }
  gather();
  const auto matrix = rows<MatrixRow>(Table::matrix);
  ASSERT_EQ(matrix.size(), 6U);
  EXPECT_EQ(matrix[0].peer, -2);
  EXPECT_EQ(matrix[2].peer, 1);
  EXPECT_EQ(matrix[2].messages, 2);
  EXPECT_EQ(matrix[2].sent, 20);
  EXPECT_EQ(matrix[3].rank, 1);
}

TEST_F(NodeTables, HaveTextsThatAreNotUtf8Escaped) {
  MadeImage& made = rank(0, 1);
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"plain", "plain"},
      {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
      {"a\xff", "a\\xff"},
      {"\xc3", "\\xc3"},
      {"\xc0\x80", "\\xc0\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}};
  for (const auto& [given, shown] : texts) made.file(given.c_str()).opens = 1;
  gather();
  std::vector<std::string> found;
  for (const FilesRow& file : rows<FilesRow>(Table::files)) found.push_back(text(file.file));
  for (const auto& [given, shown] : texts) {
    EXPECT_EQ(std::ranges::count(found, shown), 1) << shown;
  }
}

TEST_F(NodeTables, HaveDecisionsThatHandlersMade) {
  MadeImage& made = rank(0, 1);
  PlainDecisions decisions(*made.image);
  const std::string long_name(300, 'n');
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(decisions.count({"b of 'x'", "1", "it is named"}, "g"));
  EXPECT_TRUE(decisions.count({"b of 'x'", "1", "it is"}, "g"));
  EXPECT_TRUE(decisions.count({"b of 'x'1", "", "it is"}, "g"));  // the same bytes, cut elsewhere
  EXPECT_TRUE(decisions.count({long_name, "none", ""}, "g"));
  gather();
  const auto found = rows<DecisionsRow>(Table::decisions);
  ASSERT_EQ(found.size(), 4U);
  const std::array<std::array<std::string, 3>, 4> expected = {{{"b of 'x'", "1", "it is named"},
                                                               {"b of 'x'", "1", "it is"},
                                                               {"b of 'x'1", "", "it is"},
                                                               {long_name, "none", ""}}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(text(found[i].subject), expected[i][0]);
    EXPECT_EQ(text(found[i].choice), expected[i][1]);
    EXPECT_EQ(text(found[i].reason), expected[i][2]);
    EXPECT_EQ(text(found[i].alternatives), "");
    EXPECT_EQ(found[i].calls, i == 0 ? 3 : 1);
    EXPECT_EQ(found[i].cost, -1);
  }
}

TEST_F(NodeTables, HaveAFewOfManyDecisions) {
  MadeImage& made = rank(0, 1);
  PlainDecisions decisions(*made.image);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(decisions.count({std::to_string(i), "1", "it is named"}, "further"));
  }
  for (std::size_t i = 0; i < 100; ++i) {
    const std::string reason = std::to_string(i);
    const bool has_room = PlainDecisions::kMostNamed + 1 + i < PlainDecisions::kMost;
    EXPECT_EQ(decisions.count({"other", "none", reason}, "further"), has_room);
  }
  gather();
  std::int64_t named = 0;
  std::int64_t further = 0;
  for (const DecisionsRow& row : rows<DecisionsRow>(Table::decisions)) {
    if (text(row.reason) == "it is named") {
      (text(row.subject) == "further" ? further : named) += row.calls;
    }
  }
  EXPECT_EQ(named, std::int64_t{PlainDecisions::kMostNamed});
  EXPECT_EQ(named + further, 1000);
}

TEST_F(NodeTables, HaveDecisionsSettingsAndPythonFrames) {
  MadeImage& made = rank(0, 2);
  made.decision({"file", "staged", "small", "direct"}, MadeImage::kBeginTicks + 10, {3, 24});
  made.decision({"file"}, -7, {-1, -1});
  made.note(NoteKind::setting, {"HEADRACE_QUIET", "1", "environment"});
  made.note(NoteKind::variable, {"OMP_NUM_THREADS", "4"});
  made.note(NoteKind::fact, {"mpi", "MPICH"});
  ExtentHeader* const frames = made.image->take(ExtentKind::frames, 0, sizeof(Frame), 1);
  new (frames + 1) Frame{kNone, kNone, 0, made.note(NoteKind::function, {"main", "app.py"}), 12};
  frames->used = 1;
  made.finish();
  MadeImage& other = rank(1, 2);
  other.note(NoteKind::setting, {"HEADRACE_QUIET", "0", "environment"});
  gather();
  const auto decisions = rows<DecisionsRow>(Table::decisions);
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(decisions[0].time, 5);
  EXPECT_EQ(text(decisions[0].choice), "staged");
  EXPECT_EQ(decisions[0].cost, 12);
  EXPECT_EQ(decisions[0].calls, 3);
  EXPECT_EQ(decisions[1].time, 0);
  EXPECT_EQ(decisions[1].cost, -1);
  EXPECT_EQ(decisions[1].calls, 0);
  const auto settings = rows<SettingsRow>(Table::settings);
  ASSERT_EQ(settings.size(), 1U) << "of one rank";
  EXPECT_EQ(text(settings[0].value), "1");
  EXPECT_EQ(text(rows<VariablesRow>(Table::variables).at(0).value), "4");
  EXPECT_EQ(record_.facts, (Facts{{"mpi", "MPICH"}}));
  const PathsRow path = rows<PathsRow>(Table::paths).at(0);
  EXPECT_EQ(text(path.function), "main");
  EXPECT_EQ(path.line, 12);
  EXPECT_EQ(text(rows<ModulesRow>(Table::modules).at(path.module).file), "app.py");
}

}  // namespace
}  // namespace headrace::record
