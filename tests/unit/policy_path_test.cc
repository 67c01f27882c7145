#include <gtest/gtest.h>

#include "policy/path.h"

namespace headrace::policy {
namespace {

constexpr ViewFacts kSmallPieces{.node_ranks = 4, .smallest_mean_piece = 500, .is_monotonic = true};

TEST(DecideView, StagesOnlyWhatCanBeStaged) {
  ViewFacts alone = kSmallPieces;
  alone.node_ranks = 1;
  ViewFacts backwards = kSmallPieces;
  backwards.is_monotonic = false;
  for (const PathHint wish : {PathHint::automatic, PathHint::staged}) {
    EXPECT_EQ(decide_view(Direction::write, wish, alone).path, Path::direct);
    EXPECT_EQ(decide_view(Direction::write, wish, backwards).path, Path::direct);
    EXPECT_EQ(decide_view(Direction::write, wish, kSmallPieces).path, Path::staged);
  }
}

TEST(DecideView, KeepsRanksOfDifferentFilesApart) {
  ViewFacts facts = kSmallPieces;
  facts.nodes = 2;
  facts.window = 1 << 20;
  facts.is_coherent = true;
  EXPECT_EQ(decide_view(Direction::write, PathHint::automatic, facts).path, Path::exchanged);
  EXPECT_TRUE(facts.may_exchange());
  facts.is_one_file = false;
  EXPECT_FALSE(facts.may_exchange());
  for (const PathHint wish : {PathHint::automatic, PathHint::staged, PathHint::exchanged}) {
    const ViewDecision decision = decide_view(Direction::write, wish, facts);
    EXPECT_EQ(decision.path, Path::direct);
    EXPECT_EQ(decision.reason, ViewReason::different_files);
    EXPECT_FALSE(decision.is_kept_on_nodes);
  }
}

TEST(DecideView, ObeysWishes) {
  EXPECT_EQ(decide_view(Direction::write, PathHint::direct, kSmallPieces).path, Path::direct);
  const ViewFacts contiguous{.node_ranks = 2, .smallest_mean_piece = kContiguousView};
  EXPECT_EQ(decide_view(Direction::read, PathHint::staged, contiguous).path, Path::staged);
}

TEST(DecideView, LeavesLargePiecesToTheirRanks) {
  for (const ByteCount piece : {ByteCount{1} << 20, kContiguousView}) {
    const ViewFacts facts{.node_ranks = 2, .smallest_mean_piece = piece};
    const ViewDecision decision = decide_view(Direction::write, PathHint::automatic, facts);
    EXPECT_EQ(decision.path, Path::direct);
    EXPECT_FALSE(explain(decision, facts).empty());
  }
}

CallFacts dense(std::int64_t pieces, ByteCount piece) {
  const ByteCount bytes = pieces * piece;
  return {.direction = Direction::write,
          .node_ranks = 2,
          .bytes = bytes,
          .pieces = pieces,
          .span = bytes,
          .windows = bytes / (256 << 10) + 1,
          .stretches_per_piece = 1,
          .cores = 2};
}

TEST(DecideCall, StagesManySmallPieces) {
  const CallFacts facts = dense(100'000, 100);
  const CallDecision decision = decide_call(PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::staged);
  EXPECT_EQ(decision.reason, CallReason::estimated);
  EXPECT_NE(explain(decision, facts).find("100000 pieces of 100 B"), std::string::npos);
}

TEST(DecideCall, DoesNotStageAFewLargePieces) {
  EXPECT_EQ(decide_call(PathHint::automatic, dense(2, 16 << 20)).path, Path::direct);
  EXPECT_EQ(decide_call(PathHint::automatic, dense(1, 100)).path, Path::direct);
}

/// From small to large pieces of the same data the choice changes once, from staged to direct.
TEST(DecideCall, CrossesOnce) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    int crossings = 0;
    Path before = Path::staged;
    for (ByteCount piece = 8; piece <= ByteCount{16} << 20; piece *= 2) {
      CallFacts facts = dense((ByteCount{64} << 20) / piece, piece);
      facts.direction = direction;
      const Path path = decide_call(PathHint::automatic, facts).path;
      crossings += path != before;
      before = path;
    }
    EXPECT_EQ(crossings, 1);
    EXPECT_EQ(before, Path::direct);
  }
}

/// Where the choice changes for 64 MiB of 2 ranks. Reads were measured to cross at 26,000 B; the
/// estimate must be within a factor of three, where the paths differ by a few percent. Writes cross
/// at 8.1 MB on ext4 only, where the view has decided already (docs/paths.md).
TEST(DecideCall, CrossesNearWhereItWasMeasured) {
  const auto path_of = [](Direction direction, ByteCount piece) {
    CallFacts facts = dense((ByteCount{64} << 20) / piece, piece);
    facts.direction = direction;
    return decide_call(PathHint::automatic, facts).path;
  };
  constexpr ByteCount kMeasured = 26'000;
  EXPECT_EQ(path_of(Direction::read, kMeasured / 3), Path::staged);
  EXPECT_EQ(path_of(Direction::read, 30'000), Path::staged);
  EXPECT_EQ(path_of(Direction::read, kMeasured * 3), Path::direct);
  EXPECT_EQ(path_of(Direction::write, 1'000'000), Path::staged);
  EXPECT_EQ(path_of(Direction::write, 8'000'000), Path::direct);
}

/// When the ranks have met, one system call for a window is soon cheaper than one for each piece
/// or, sieved, for each rank. Only a lone piece is better off by itself.
TEST(DecideCall, CrossesByTheNumberOfPieces) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    const auto path_of = [&](std::int64_t pieces) {
      CallFacts facts = dense(pieces, 64);
      facts.direction = direction;
      return decide_call(PathHint::automatic, facts).path;
    };
    EXPECT_EQ(path_of(1), Path::direct);
    EXPECT_EQ(path_of(4), Path::staged);
    EXPECT_EQ(path_of(2'000), Path::staged);
  }
}

/// Two ranks read three pieces of 1,000 B each sooner by themselves than they met, near and far;
/// twenty not (docs/paths.md). Writes exclude each other, so they always meet.
TEST(DecidePart, ReadsLittleWithoutMeeting) {
  const auto own = [](std::int64_t pieces, ByteCount piece) {
    CallFacts facts = dense(pieces, piece);
    facts.direction = Direction::read;
    facts.node_ranks = facts.cores = 1;
    facts.span = (2 * pieces - 1) * piece;
    facts.is_local = true;
    return facts;
  };
  for (const CallFacts& little : {own(2, 64), own(20, 64), own(3, 1'000), own(1, 2'000)}) {
    const auto decision = decide_part(PathHint::automatic, little);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->path, Path::direct);
    EXPECT_NE(explain(*decision, little).find("sooner than ranks could meet"), std::string::npos);
  }
  EXPECT_FALSE(decide_part(PathHint::automatic, own(20, 1'000)));
  EXPECT_FALSE(decide_part(PathHint::automatic, own(200, 64)));
  EXPECT_FALSE(decide_part(PathHint::staged, own(2, 64)));
  EXPECT_FALSE(decide_part(PathHint::automatic, dense(2, 64)));
  CallFacts apart = own(4, 64);
  apart.span = 1 << 20;
  EXPECT_FALSE(decide_part(PathHint::automatic, apart));
  EXPECT_FALSE(decide_part(PathHint::automatic, own(0, 64)));
  // Where each rank's read may ask a server, fewer of them are better.
  CallFacts served = own(2, 64);
  served.is_local = false;
  EXPECT_FALSE(decide_part(PathHint::automatic, served));
}

/// Where ranks outnumber cores waiting costs turns, so small calls go directly.
TEST(DecideCall, WaitsLessWhereRanksOutnumberCores) {
  CallFacts facts = dense(100, 1'000);
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
  facts.node_ranks = 16;
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::direct);
}

/// Measured by 4 and 8 ranks on 2 cores: pieces of 4,000 B were read faster by way of slots, those
/// of 10,000 B by each rank for itself; by 3 ranks all of these, and written those of 100,000 B
/// too.
TEST(DecideCall, LargePiecesAreReadDirectlyWhereRanksOutnumberCores) {
  const auto path_of = [&](int ranks, Direction direction, ByteCount piece) {
    CallFacts facts = dense(256'000'000 / piece, piece);
    facts.direction = direction;
    facts.node_ranks = ranks;
    return decide_call(PathHint::automatic, facts).path;
  };
  EXPECT_EQ(path_of(3, Direction::read, 10'000), Path::staged);
  for (const int ranks : {4, 8}) {
    EXPECT_EQ(path_of(ranks, Direction::read, 4'000), Path::staged);
    EXPECT_EQ(path_of(ranks, Direction::read, 10'000), Path::direct);
    EXPECT_EQ(path_of(ranks, Direction::read, 100'000), Path::direct);
    EXPECT_EQ(path_of(ranks, Direction::write, 300'000), Path::staged);
  }
  // Written, large ones gain nothing by slots where most ranks wait for a core.
  EXPECT_EQ(path_of(4, Direction::write, 600'000), Path::staged);
  EXPECT_EQ(path_of(8, Direction::write, 900'000), Path::direct);
}

/// What lies in a slot goes from core to core; bytes that each rank reads for itself do not.
TEST(DecideCall, KnowsHowFarCoresAreApart) {
  CallFacts facts = dense(2'000, 1'000);
  facts.direction = Direction::read;
  facts.span = 2 * facts.bytes;
  // 300 ns are cores of a Zen 5 that share no cache: slots were still faster there.
  for (const std::int64_t near : {0, 60, 80, 300}) {
    facts.page_transfer = near;
    EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
  }
  facts.page_transfer = 800;
  const CallDecision decision = decide_call(PathHint::automatic, facts);
  EXPECT_EQ(decision.path, Path::direct);
  EXPECT_NE(explain(decision, facts).find("cores are 800 ns a page apart"), std::string::npos);
  // Sieved by eight ranks, the file would be read eight times.
  facts.node_ranks = facts.cores = 8;
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
  // Many small pieces are written together in any case.
  facts.direction = Direction::write;
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
}

/// Measured on a Zen 5 with cores 290 ns a page apart: pieces of 300,000 B were written in 0.84 of
/// the time by way of slots, while slots cost a fifth more where pieces are small.
TEST(DecideCall, LargePiecesAreStagedWhereCoresAreFarApart) {
  const auto extra_of = [](ByteCount piece) {
    CallFacts facts = dense(64'000'000 / piece, piece);
    const double near = staged_cost(facts);
    facts.page_transfer = 290;
    EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged) << piece;
    return (staged_cost(facts) - near) / near;
  };
  EXPECT_GT(extra_of(1'000), 0.08);
  EXPECT_LT(extra_of(100'000), 0.03);
  EXPECT_LT(extra_of(300'000), 0.03);
}

/// Pieces with a gap of at most a page between them need no call each, those with larger gaps do.
TEST(DecideCall, KnowsThatLargerPiecesAreReadTogether) {
  const auto cost_of = [](ByteCount piece) {
    CallFacts facts = dense(1'000, piece);
    facts.direction = Direction::read;
    return direct_cost(facts);
  };
  EXPECT_LT(cost_of(kJoinedGap), 0.7 * cost_of(kJoinedGap + 1));
  // Between one of eight ranks' pieces lie seven others'.
  CallFacts facts = dense(8'000, 4'096);
  facts.direction = Direction::read;
  facts.node_ranks = 8;
  const double apart = direct_cost(facts);
  facts.node_ranks = 2;
  EXPECT_LT(direct_cost(facts), apart);
}

TEST(DecideCall, VeryLongTransfersCountAsLongOnes) {
  CallFacts facts = dense(8'192, 8'192);
  for (const Direction direction : {Direction::write, Direction::read}) {
    facts.direction = direction;
    facts.page_transfer = 1'200;
    const double cost = staged_cost(facts);
    facts.page_transfer = 2'400;
    EXPECT_EQ(staged_cost(facts), cost);
  }
  facts.direction = Direction::write;
  EXPECT_EQ(decide_call(PathHint::automatic, facts).path, Path::staged);
}

TEST(DecideCall, CostsGrowWithTheWork) {
  const CallFacts less = dense(1'000, 100);
  const CallFacts more = dense(2'000, 100);
  EXPECT_LT(direct_cost(less), direct_cost(more));
  EXPECT_LT(staged_cost(less), staged_cost(more));
  CallFacts crowded = less;
  crowded.node_ranks = 16;
  EXPECT_LT(staged_cost(less), staged_cost(crowded));
}

TEST(DecideCall, KnowsWhatIsNotWorthAWindow) {
  EXPECT_EQ(decide_call(PathHint::automatic, {}).reason, CallReason::nothing_to_move);
  CallFacts sparse = dense(1'000, 8);
  sparse.span = sparse.bytes * 100;
  EXPECT_EQ(decide_call(PathHint::automatic, sparse).path, Path::direct);
  EXPECT_EQ(decide_call(PathHint::automatic, sparse).reason, CallReason::far_apart);
  EXPECT_EQ(decide_call(PathHint::staged, sparse).path, Path::staged);
  EXPECT_EQ(decide_call(PathHint::staged, sparse).reason, CallReason::asked_for);
}

TEST(DecideCall, LoadsNoGigabytesOfGapsEvenWhereAsked) {
  CallFacts sparse = dense(1'000, 8);
  sparse.span = sparse.bytes * 1'001;
  sparse.direction = Direction::write;  // which touches nothing between the pieces
  EXPECT_EQ(decide_call(PathHint::staged, sparse).reason, CallReason::asked_for);
  sparse.direction = Direction::read;
  EXPECT_EQ(decide_call(PathHint::staged, sparse).path, Path::direct);
  EXPECT_EQ(decide_call(PathHint::staged, sparse).reason, CallReason::far_apart);
  sparse.span = sparse.bytes * 1'000;
  EXPECT_EQ(decide_call(PathHint::staged, sparse).path, Path::staged);
}

TEST(DecideCall, GoesThroughNoMillionsOfEmptyWindowsEvenWhereAsked) {
  CallFacts sparse = dense(1'000, 8);
  sparse.direction = Direction::write;
  sparse.span = ByteCount{1} << 50;
  sparse.windows = ByteCount{1} << 32;
  EXPECT_EQ(decide_call(PathHint::exchanged, sparse).path, Path::direct);
  EXPECT_EQ(decide_call(PathHint::exchanged, sparse).reason, CallReason::far_apart);
  sparse.bytes = sparse.span / 2;
  EXPECT_EQ(decide_call(PathHint::exchanged, sparse).path, Path::staged);
}

/// A header and a footer, far apart: each window would cost messages for a few bytes.
TEST(DecideCall, GoesThroughNoThousandsOfEmptyWindowsEvenWhereAsked) {
  EXPECT_TRUE(are_nearly_empty(512'000, 4'000, 512'000LL << 20));
  EXPECT_FALSE(are_nearly_empty(512'000, 512'000LL * 512, 512'000LL << 20));
  EXPECT_FALSE(are_nearly_empty(1'000, 16, 1'000LL << 20)) << "a millisecond or so";
  EXPECT_TRUE(are_nearly_empty(2 << 20, (2LL << 40) / 65, 2LL << 40));
}

}  // namespace
}  // namespace headrace::policy
