#include <gtest/gtest.h>

#include "policy/leaders.h"
#include "policy/path.h"
#include "policy/profile.h"

namespace headrace::policy {
namespace {

constexpr const char* kHead =
    "[profile]\nformat = 1\n[machine]\nprocessor = \"A CPU\"\n"
    "[file_system]\nkind = \"lustre\"\nmount = \"/scratch\"\n";

ReadProfile read(const std::string& costs) {
  return parse_profile(kHead + costs, "/etc/headrace/profiles/a.toml");
}

TEST(Profile, HasTheCostsThatWereMeasured) {
  const ReadProfile found = read(
      "[write]\ncall = \"5200.5 measured\"  # by requests\ncopy_piece = \"9 built in\"\n"
      "[read]\nwindow_byte = \"0.25\"\n[common]\nmeeting_read = 3000\n");
  EXPECT_TRUE(found.counts);
  EXPECT_TRUE(found.problems.empty()) << found.problems.front();
  EXPECT_EQ(found.profile.file_system, "lustre");
  EXPECT_EQ(found.profile.mount, "/scratch");
  EXPECT_EQ(found.profile.processor, "A CPU");
  const Costs& costs = found.profile.costs;
  EXPECT_EQ(costs.write.call, 5200.5);
  EXPECT_EQ(costs.write.copy_piece, kMeasuredCosts.write.copy_piece) << "as this library has it";
  EXPECT_EQ(costs.read.window_byte, 0.25);
  EXPECT_EQ(costs.read.call, kMeasuredCosts.read.call);
  EXPECT_EQ(costs.common.meeting_read, 3000);
}

TEST(Profile, NamesWhatItLeavesOut) {
  const ReadProfile found = read(
      "[write]\ncall = \"-1\"\ncalls = \"1\"\ncall_byte = \"nan\"\nwindow_call = \"1x\"\n"
      "[else]\na = 1\n[read]\ncall = \"1e16\"\nwindow_call = 7\n");
  EXPECT_TRUE(found.counts);
  ASSERT_EQ(found.problems.size(), 6U);
  EXPECT_EQ(found.problems[0],
            "profile '/etc/headrace/profiles/a.toml' line 9 is ignored (it is no number from 0 to "
            "1e15), write for example \"700 measured\"");
  EXPECT_NE(found.problems[1].find("no cost of [write] is called 'calls'"), std::string::npos);
  EXPECT_NE(found.problems[4].find("no header that is read here"), std::string::npos);
  EXPECT_EQ(found.profile.costs.write.call, kMeasuredCosts.write.call);
  EXPECT_EQ(found.profile.costs.write.call_byte, kMeasuredCosts.write.call_byte);
  EXPECT_EQ(found.profile.costs.read.window_call, 7) << "the rest counts";
}

TEST(Profile, OfAnotherVersionDoesNotCount) {
  for (const std::string text : {"", "[profile]\nformat = 2\n[file_system]\nkind = \"ext4\"\n",
                                 "[write]\ncall = \"1\"\n", "[profile]\nformat = 1\n",
                                 "\x7f"
                                 "ELF",
                                 "[settings]\nquiet = 1\n"}) {
    const ReadProfile found = parse_profile(text, "f");
    EXPECT_FALSE(found.counts) << text;
    ASSERT_EQ(found.problems.size(), 1U) << text;
    EXPECT_TRUE(found.problems[0].starts_with("profile 'f' is ignored (")) << found.problems[0];
    EXPECT_TRUE(found.problems[0].ends_with("), measure anew with headrace tune"));
  }
  EXPECT_NE(parse_profile("[profile]\nformat = 2\n", "f").problems[0].find("of format 2"),
            std::string::npos);
}

TEST(Profile, DiffersByItsFingerprint) {
  const auto print = [](const std::string& costs) { return read(costs).profile.fingerprint(); };
  EXPECT_EQ(print(""), print("[write]\ncopy_piece = \"4 built in\"\n"));
  EXPECT_NE(print(""), print("[write]\ncall = \"701\"\n"));
  EXPECT_NE(print("[write]\ncall = \"701\"\n"), print("[read]\ncall = \"701\"\n"));
}

TEST(Profile, CostsStayWithinWhatTheModelDividesBy) {
  const Costs costs = read(
                          "[write]\nconcurrency = \"0\"\nlongest_transfer = "
                          "\"1\"\n[common]\nleast_scattered = \"7\"\n"
                          "usual_transfer = \"90\"\n")
                          .profile.costs;
  EXPECT_EQ(costs.write.concurrency, 1);
  EXPECT_EQ(costs.write.longest_transfer, 90);
  EXPECT_EQ(costs.common.least_scattered, 1);
}

CallFacts calls_of(Direction direction, int ranks, std::int64_t pieces, ByteCount piece) {
  const ByteCount bytes = pieces * piece * ranks;
  return {.direction = direction,
          .node_ranks = ranks,
          .bytes = bytes,
          .pieces = pieces * ranks,
          .span = bytes,
          .windows = bytes / (256 << 10) + 1,
          .stretches_per_piece = 1.0 / ranks,
          .cores = ranks};
}

/// On a store of which each request takes 200 us, 100 kB are worth gathering; built-in costs are
/// those of a page cache.
TEST(Profile, ChangesAChoiceAndItsReason) {
  const Profile slow =
      read("[read]\ncall = \"200000 measured\"\nwindow_call = \"200000 measured\"\n").profile;
  CallFacts facts = calls_of(Direction::read, 2, 80, 100'000);
  CallDecision decision = decide_call(PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::direct);
  EXPECT_EQ(explain(decision, facts).find("profile"), std::string::npos);
  facts.profile = &slow;
  decision = decide_call(PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::staged);
  EXPECT_TRUE(explain(decision, facts)
                  .ends_with("; costs are those of profile '/etc/headrace/profiles/a.toml'"))
      << explain(decision, facts);
}

/// A store that serves several ranks at a time gains nothing by one rank that writes for all.
TEST(Profile, SaysHowManyRanksMayWriteAtATime) {
  const Profile wide = read(
                           "[write]\ncall_byte = \"2\"\nwindow_byte = \"2\"\ngrowth_byte = "
                           "\"0\"\nconcurrency = \"1024\"\n")
                           .profile;
  CallFacts facts = calls_of(Direction::write, 4, 64, 65'536);
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
  facts.profile = &wide;
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::direct);
}

TEST(Profile, SaysFromWhichPiecesOnViewsGoDirectly) {
  const Profile profile = read("[common]\nlarge_piece_to_write = \"4096\"\n").profile;
  ViewFacts facts{.node_ranks = 4, .smallest_mean_piece = 8192, .is_monotonic = true};
  EXPECT_EQ(decide_view(Direction::write, PathHint::automatic, facts).path, Path::staged);
  facts.profile = &profile;
  const ViewDecision decision = decide_view(Direction::write, PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::direct);
  EXPECT_NE(explain(decision, facts).find("costs are those of profile"), std::string::npos);
  const ViewDecision asked = decide_view(Direction::write, PathHint::staged, facts);
  EXPECT_EQ(explain(asked, facts).find("profile"), std::string::npos) << "it decided nothing";
}

TEST(Profile, CountsForLeaders) {
  const Profile slow = read("[common]\nfurther_leader = \"1e12\"\n").profile;
  EXPECT_EQ(decide_leaders(4, 4, 0, ByteCount{1} << 30).leaders, 4);
  const LeaderDecision decision = decide_leaders(4, 4, 0, ByteCount{1} << 30, &slow);
  EXPECT_EQ(decision.leaders, 1);
  EXPECT_NE(explain(decision, &slow).find("costs are those of profile"), std::string::npos);
}

}  // namespace
}  // namespace headrace::policy
