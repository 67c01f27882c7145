// Programs in which the ranks of a parcel differ about its size: each gets what there is and has
// room for, as from the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "collective/parcel_room.h"
#include "unit/collective_parcel_cases.h"
#include "unit/collective_world.h"

namespace headrace::collective {
namespace {

/// Where one sends something the other expects something, so that the library would move it.
Sizes differing(const Sizes& sizes, std::size_t small, std::mt19937& random) {
  Sizes other = sizes;
  for (auto& row : other) {
    for (std::size_t& bytes : row) {
      if (bytes == 0 || random() % 3 == 0) continue;
      bytes = 1 + random() % (2 * small);
    }
  }
  return other;
}

/// What rank `to` should have afterwards, and whether it has been sent more than it expects.
struct Wanted {
  std::vector<std::byte> receive;
  bool is_cut = false;
};
Wanted wanted_of(const RankCall& own, int to, const Sizes& sent, std::size_t number) {
  Wanted wanted{own.receive};
  for (std::size_t from = 0; from < sent.size(); ++from) {
    const std::size_t bytes = sent[from][static_cast<std::size_t>(to)];
    wanted.is_cut |= bytes > own.from[from].bytes;
    for (std::size_t i = 0; i < std::min(bytes, own.from[from].bytes); ++i) {
      wanted.receive[own.from[from].offset + i] = given(static_cast<int>(from), to, number, i);
    }
  }
  return wanted;
}

/// Which bytes of a rank's buffer parcels may come to.
std::vector<bool> places_of(const RankCall& own) {
  std::vector<bool> places(own.receive.size());
  for (const Parcel& parcel : own.from) {
    std::fill_n(places.begin() + static_cast<std::ptrdiff_t>(parcel.offset), parcel.bytes, true);
  }
  return places;
}

void check_differing(const Algorithm& algorithm, const Nodes& nodes, std::size_t stage,
                     unsigned seed) {
  constexpr std::size_t kCalls = 6;
  std::mt19937 random(seed);
  World world(nodes, stage, 1 + static_cast<int>(random() % 4));
  const auto ranks = static_cast<std::size_t>(world.layout().size());
  const std::size_t small =
      std::max<std::size_t>(16, rooted_room(world.layout().shape_of(0), world.limits()).small);
  std::vector<std::vector<RankCall>> calls(ranks);
  std::vector<std::vector<Wanted>> wanted(ranks);
  for (std::size_t i = 0; i < kCalls; ++i) {
    Call call{.operation = algorithm.operation};
    call.root = static_cast<int>(random() % ranks);
    if (has_common_size(call.operation)) call.bytes = 1 + random() % small;
    const Sizes sent = draw_sizes(call, ranks, small, false, random);
    const Case senders = make_case(call, sent, i, false);
    const Case receivers = make_case(call, differing(sent, small, random), i, false);
    for (std::size_t r = 0; r < ranks; ++r) {
      RankCall own = senders.ranks[r];
      own.from = receivers.ranks[r].from;
      own.receive = receivers.ranks[r].receive;
      // What is said of the size, if anything.
      if (has_common_size(call.operation)) own.call.bytes += r % 2;
      own.may_fail = true;
      wanted[r].push_back(wanted_of(own, static_cast<int>(r), sent, i));
      calls[r].push_back(std::move(own));
    }
  }
  const auto before = calls;
  world.run(calls, &algorithm, {}, random);
  for (std::size_t i = 0; i < kCalls; ++i) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const RankCall& own = calls[r][i];
      SCOPED_TRACE(std::string(algorithm.name) + ", call " + std::to_string(i) + ", rank " +
                   std::to_string(r) + ", seed " + std::to_string(seed));
      ASSERT_EQ(own.failure.error_class == ErrorClass::truncated, wanted[r][i].is_cut);
      if (!wanted[r][i].is_cut) {
        ASSERT_EQ(own.receive, wanted[r][i].receive);
      }
      const std::vector<bool> places = places_of(own);
      for (std::size_t k = 0; k < own.receive.size(); ++k) {
        ASSERT_TRUE(places[k] || own.receive[k] == before[r][i].receive[k]) << "byte " << k;
      }
    }
  }
}

TEST(Parcels, OfDifferingSizesAreCutAndNeverMixedUp) {
  int checked = 0;
  for (const std::size_t stage : {std::size_t{4096}, std::size_t{1} << 16}) {
    for (const Nodes& nodes : kShapes) {
      const Shape shape = Layout(nodes).shape_of(0);
      for (const Algorithm* const algorithm : algorithms()) {
        const Call call{.operation = algorithm->operation};
        if (!moves_parcels(algorithm->operation)) continue;
        // On one node the library gets them.
        if (has_common_size(algorithm->operation) && shape.node_count == 1) continue;
        if (algorithm->obstacle(shape, call, {stage}) != nullptr) continue;
        for (unsigned seed = 0; seed < 6; ++seed) {
          check_differing(*algorithm, nodes, stage, seed);
          if (HasFatalFailure()) return;
        }
        ++checked;
      }
    }
  }
  constexpr int kShared = 9;  // of several nodes, of which one has several ranks
  EXPECT_EQ(checked, 2 * 4 * static_cast<int>(std::size(kShapes)) - 4 + 2 * 2 * kShared);
}

}  // namespace
}  // namespace headrace::collective
