#include <gtest/gtest.h>

#include "policy/path.h"
#include "policy/profile.h"

namespace headrace::policy {
namespace {

constexpr const char* kMachine =
    "[profile]\nformat = 2\n[machine]\nprocessor = \"A CPU\"\nnode_ranks = 8\nnodes = 1\n"
    "[file_system]\nkind = \"lustre\"\nmount = \"/scratch\"\n";
constexpr const char* kAll = "write = \"0 to 1e15\"\nread = \"0 to 1e15\"\n";

ReadProfile read(const std::string& costs, const std::string& choices = kAll) {
  return parse_profile(kMachine + ("[choices]\n" + choices) + costs,
                       "/etc/headrace/profiles/a.toml");
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
            "profile '/etc/headrace/profiles/a.toml' line 14 is ignored (it is no number from 0 to "
            "1e15), write for example \"700 measured\"");
  EXPECT_NE(found.problems[1].find("no cost of [write] is called 'calls'"), std::string::npos);
  EXPECT_NE(found.problems[4].find("no header that is read here"), std::string::npos);
  EXPECT_EQ(found.profile.costs.write.call, kMeasuredCosts.write.call);
  EXPECT_EQ(found.profile.costs.write.call_byte, kMeasuredCosts.write.call_byte);
  EXPECT_EQ(found.profile.costs.read.window_call, 7) << "the rest counts";
}

TEST(Profile, OfAnotherVersionDoesNotCount) {
  for (const std::string text : {"", "[profile]\nformat = 1\n[file_system]\nkind = \"ext4\"\n",
                                 "[write]\ncall = \"1\"\n", "[profile]\nformat = 2\n",
                                 "\x7f"
                                 "ELF",
                                 "[settings]\nquiet = 1\n"}) {
    const ReadProfile found = parse_profile(text, "f");
    EXPECT_FALSE(found.counts) << text;
    ASSERT_EQ(found.problems.size(), 1U) << text;
    EXPECT_TRUE(found.problems[0].starts_with("profile 'f' is ignored (")) << found.problems[0];
    EXPECT_TRUE(found.problems[0].ends_with("), measure anew with headrace tune"));
  }
  EXPECT_NE(parse_profile("[profile]\nformat = 1\n", "f").problems[0].find("of format 1"),
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

/// Where nothing was gained by the measured costs, the built-in ones stay.
TEST(Profile, CountsForPiecesOfWhichAGainWasMeasured) {
  const std::string slow =
      "[read]\ncall = \"200000 measured\"\nwindow_call = \"200000 measured\"\n";
  const auto path = [&](const std::string& choices, ByteCount piece) {
    const Profile profile = read(slow, choices).profile;
    CallFacts facts = calls_of(Direction::read, 2, 80, piece);
    facts.profile = &profile;
    const CallDecision decision = decide_call(PathHint::automatic, facts);
    const bool is_named = explain(decision, facts).find("profile") != std::string::npos;
    EXPECT_EQ(is_named, decision.path == Path::staged);
    return decision.path;
  };
  EXPECT_EQ(path("read = \"65536 to 131072\"\n", 100'000), Path::staged);
  EXPECT_EQ(path("read = \"1 to 2, 100000 to 100000\"\n", 100'000), Path::staged);
  for (const std::string choices :
       {"", "read = \"none\"\n", "write = \"65536 to 131072\"\n", "read = \"1000 to 99999\"\n",
        "read = \"100001 to 200000\"\n"}) {
    EXPECT_EQ(path(choices, 100'000), Path::direct) << choices;
  }
}

TEST(Profile, DecidesOnViewsOfWhichAGainWasMeasured) {
  const std::string costs = "[common]\nlarge_piece_to_write = \"4096\"\n";
  ViewFacts facts{.node_ranks = 4, .smallest_mean_piece = 8192, .is_monotonic = true};
  const Profile gains = read(costs, "write = \"8192 to 8192\"\n").profile;
  const Profile gains_nothing = read(costs, "write = \"none\"\nread = \"1 to 10000\"\n").profile;
  facts.profile = &gains;
  EXPECT_EQ(decide_view(Direction::write, PathHint::automatic, facts).path, Path::direct);
  facts.profile = &gains_nothing;
  const ViewDecision decision = decide_view(Direction::write, PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::staged);
  EXPECT_EQ(explain(decision, facts).find("profile"), std::string::npos);
}

TEST(Profile, NamesPiecesThatCannotBeRead) {
  for (const std::string text : {"x", "1", "1 to", "5 to 4", "1 to 2,3 to 4", "1 to 2, ", "-1 to 4",
                                 "1 to 2 to 3", "none, 1 to 2", "nan to 1"}) {
    const ReadProfile found = read("", "write = \"" + text + "\"\n");
    EXPECT_TRUE(found.counts) << text;
    ASSERT_EQ(found.problems.size(), 1U) << text;
    EXPECT_NE(found.problems[0].find("counts for no writes"), std::string::npos);
    EXPECT_TRUE(found.profile.write.empty()) << text;
  }
}

/// What two ranks reach together says nothing on 1,024.
TEST(Profile, CountsForNoMoreRanksThanMeasured) {
  const Profile profile = read("").profile;
  EXPECT_EQ(profile.node_ranks, 8);
  EXPECT_TRUE(has_enough_ranks(profile, 8, 1));
  EXPECT_TRUE(has_enough_ranks(profile, 2, 1));
  EXPECT_FALSE(has_enough_ranks(profile, 9, 1));
  EXPECT_FALSE(has_enough_ranks(profile, 1, 2));
  EXPECT_EQ(too_few_ranks(profile, 9, 1),
            "it is of 1 node with 8 ranks each, the file has 1 node with 9 ranks each");
}

TEST(Profile, SaysHowManyRanksItIsOf) {
  for (const std::string counts :
       {"", "node_ranks = 2\n", "nodes = 1\n", "node_ranks = 0\nnodes = 1\n",
        "node_ranks = \"x\"\nnodes = 1\n"}) {
    const ReadProfile found = parse_profile(
        "[profile]\nformat = 2\n[machine]\n" + counts + "[file_system]\nkind = \"ext4\"\n", "f");
    EXPECT_FALSE(found.counts) << counts;
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_NE(found.problems[0].find("no counts node_ranks and nodes"), std::string::npos);
  }
}

TEST(Profile, WithOtherRanksOrPiecesIsAnother) {
  const auto print = [](const std::string& choices) {
    return read("", choices).profile.fingerprint();
  };
  EXPECT_NE(print("write = \"1 to 2\"\n"), print("read = \"1 to 2\"\n"));
  EXPECT_NE(print("write = \"1 to 2\"\n"), print("write = \"1 to 3\"\n"));
  Profile more = read("").profile;
  more.node_ranks = 9;
  EXPECT_NE(more.fingerprint(), read("").profile.fingerprint());
}

TEST(Profile, IsNamedWithThePiecesForWhichItCounts) {
  EXPECT_EQ(explain_costs(nullptr), "built in");
  Profile profile;
  profile.path = "/p.toml";
  EXPECT_EQ(explain_costs(&profile), "built in (profile '/p.toml' counts for no pieces)");
  profile.read = {{1, 5}, {9, 12}};
  EXPECT_EQ(explain_costs(&profile),
            "those of profile '/p.toml' for reads of 1 to 5 and 9 to 12 bytes, else built in");
  profile.write = {{25600, 1e15}};
  EXPECT_EQ(
      explain_costs(&profile),
      "those of profile '/p.toml' for writes of 25600 to 1000000000000000 bytes, reads of 1 to "
      "5 and 9 to 12 bytes, else built in");
}

}  // namespace
}  // namespace headrace::policy
