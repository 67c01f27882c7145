#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "file/agreed_view.h"
#include "file/exchange_planner.h"
#include "plan/owners.h"

// Whether each storage target belongs to one aggregator, whatever buffers users ask for.

namespace headrace::file {
namespace {

struct Case {
  ByteCount buffer = 0;  ///< 0: not asked for
  ByteCount stripe = 1 << 20;
  std::int64_t targets = 16;
  int nodes = 16;
  std::int64_t aggregators = 0;  ///< 0: not asked for
  bool is_coherent = true;
};

Agreement agreed(const Case& one) {
  Agreement agreement;
  agreement.stripe = one.stripe;
  agreement.stripe_count = one.targets;
  agreement.ranks = one.nodes * 4;
  agreement.aggregators.count = one.aggregators;
  agreement.layout.is_coherent = one.is_coherent;
  agreement.hints[kBufferSize] = one.buffer;
  set_view(agreement, {.node_ranks = 4, .nodes = one.nodes, .slots = 8});
  return agreement;
}

/// The most aggregators that any target has.
std::size_t most_owners(const Case& one, const Agreement& agreement) {
  DomainHints domains;
  domains.aggregators = agreement.aggregators;
  domains.stripe = agreement.stripe;
  domains.stripe_count = agreement.stripe_count;
  const auto choice =
      choose_aggregators(std::vector<int>(static_cast<std::size_t>(one.nodes), 4), domains);
  std::vector<int> nodes;
  // A number of its own for each aggregator.
  for (const plan::Aggregator& aggregator : choice.aggregators) {
    nodes.push_back(4 * aggregator.node + aggregator.place);
  }
  const auto owners = plan::Owners::of_stripes(nodes, agreement.window_size, agreement.stripe,
                                               agreement.stripe_count);
  std::map<std::int64_t, std::set<int>> found;
  for (std::int64_t stripe = 0; stripe < 5 * one.targets * one.nodes; ++stripe) {
    const FileOffset begin = stripe * one.stripe;
    for (FileOffset at = begin; at < begin + one.stripe; at += agreement.window_size) {
      found[stripe % one.targets].insert(owners.owner_of(at / agreement.window_size));
    }
  }
  std::size_t most = 0;
  for (const auto& [target, of_target] : found) most = std::max(most, of_target.size());
  return most;
}

TEST(AgreedView, GivesATargetOneAggregator) {
  for (const ByteCount buffer : {0, 64 << 10, 1 << 20, 3 << 20, 16 << 20, 64 << 20}) {
    for (const ByteCount stripe : {64 << 10, 1 << 20, 4 << 20, 64 << 20}) {
      for (const std::int64_t targets : {1, 3, 4, 12, 16}) {
        for (const int nodes : {2, 3, 4, 16}) {
          for (const std::int64_t aggregators : {0, 2, 4, 6}) {
            const Case one{buffer, stripe, targets, nodes, std::min(aggregators, targets)};
            const Agreement agreement = agreed(one);
            EXPECT_EQ(most_owners(one, agreement), 1U)
                << buffer << " " << stripe << " " << targets << " " << nodes << " " << aggregators;
            EXPECT_EQ(agreement.window_size % kPage, 0);
          }
        }
      }
    }
  }
}

TEST(AgreedView, TakesTheStripesOfOneAggregatorTogether) {
  EXPECT_EQ(agreed({.buffer = 16 << 20, .nodes = 4}).window_size, 4 << 20);
  EXPECT_EQ(agreed({.buffer = 16 << 20, .nodes = 16}).window_size, 1 << 20);
  EXPECT_EQ(agreed({.buffer = 16 << 20, .nodes = 16, .aggregators = 2}).window_size, 8 << 20);
}

TEST(AgreedView, KeepsBuffersThatStripesWouldMakeTooSmall) {
  EXPECT_EQ(agreed({.buffer = 16 << 20, .stripe = 4 << 10, .targets = 8, .nodes = 8}).window_size,
            16 << 20);
}

TEST(AgreedView, KeepsLargeBuffersWhereNodesDoNotExchange) {
  EXPECT_EQ(agreed({.buffer = 16 << 20, .nodes = 1}).window_size, 16 << 20);
  EXPECT_EQ(agreed({.buffer = 16 << 20, .is_coherent = false}).window_size, 16 << 20);
}

}  // namespace
}  // namespace headrace::file
