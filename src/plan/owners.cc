#include "plan/owners.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/rounding.h"

namespace headrace::plan {
namespace {

/// Beyond any window of a file: offsets fit in 62 bits, windows are whole pages.
constexpr std::int64_t kEndOfWindows = std::int64_t{1} << 52;

DomainRule rule_of(Alignment alignment, std::int64_t unit, std::int64_t period,
                   std::size_t aggregators) {
  return {.alignment = alignment,
          .stripe_size = unit,
          .stripe_count = period,
          .window_size = 1,
          .aggregators = static_cast<int>(aggregators)};
}

}  // namespace

Owners::Owners(std::vector<int> nodes, const DomainRule& rule, FileRange hull)
    : nodes_(std::move(nodes)), map_(rule, hull) {
  first_of_.resize(static_cast<std::size_t>(std::ranges::max(nodes_)) + 2);
  for (const int node : nodes_) ++first_of_[static_cast<std::size_t>(node) + 1];
  std::partial_sum(first_of_.begin(), first_of_.end(), first_of_.begin());
  std::vector<std::size_t> next = first_of_;
  by_node_.resize(nodes_.size());
  turns_.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = static_cast<std::size_t>(nodes_[i]);
    by_node_[next[node]] = static_cast<int>(i);
    turns_.push_back({static_cast<int>(next[node]++ - first_of_[node]),
                      static_cast<int>(first_of_[node + 1] - first_of_[node])});
  }
}

Owners::Owners(std::vector<int> nodes, std::int64_t unit, std::int64_t period)
    : Owners(nodes, rule_of(Alignment::persistent, unit, period, nodes.size()),
             {0, kEndOfWindows}) {}

Owners Owners::of_stripes(std::vector<int> nodes, ByteCount window_size, ByteCount stripe,
                          std::int64_t stripe_count) {
  if (stripe > window_size && stripe % window_size == 0) {
    return {std::move(nodes), stripe / window_size, stripe_count};
  }
  const bool is_whole = stripe > 0 && window_size % stripe == 0;
  const std::int64_t stripes = is_whole ? window_size / stripe : 1;
  return {std::move(nodes), 1,
          is_whole && stripe_count % stripes == 0 ? stripe_count / stripes : 0};
}

Owners Owners::in_runs(std::vector<int> nodes, std::int64_t windows, std::int64_t longest) {
  const auto count = static_cast<std::int64_t>(nodes.size());
  return {std::move(nodes), std::clamp<std::int64_t>(divide_up(windows, count), 1, longest), 0};
}

Owners Owners::even(std::vector<int> nodes, std::int64_t first, std::int64_t end,
                    std::int64_t unit) {
  const DomainRule rule = rule_of(Alignment::stripes, unit, 0, nodes.size());
  return {std::move(nodes), rule, {first, end}};
}

template <class Visit>
void Owners::for_each(int node, FileRange windows, Visit visit) const {
  const auto place = static_cast<std::size_t>(node);
  if (place + 1 >= first_of_.size()) return;
  for (std::size_t i = first_of_[place]; i < first_of_[place + 1]; ++i) {
    const int aggregator = by_node_[i];
    const Rounds rounds = map_.meeting(aggregator, windows);
    if (rounds.first < rounds.last) visit(aggregator, rounds);
  }
}

std::int64_t Owners::next(int node, std::int64_t window, Leader leader) const {
  std::int64_t next = -1;
  for_each(node, {window, kEndOfWindows}, [&](int aggregator, const Rounds& rounds) {
    // Leaders take turns: a leader's turn is among the first leader.count windows, or never comes.
    const std::int64_t end = std::min(rounds.last, rounds.first + leader.count);
    for (std::int64_t round = rounds.first; round < end; ++round) {
      if (leader_of(aggregator, round, leader.count) != leader.index) continue;
      const std::int64_t found = map_.window(round, aggregator).begin;
      if (next < 0 || found < next) next = found;
      break;
    }
  });
  return next;
}

std::int64_t Owners::last(int node, std::int64_t begin, std::int64_t end, Leader leader) const {
  std::int64_t last = -1;
  for_each(node, {begin, end}, [&](int aggregator, const Rounds& rounds) {
    const std::int64_t first = std::max(rounds.first, rounds.last - leader.count);
    for (std::int64_t round = rounds.last - 1; round >= first; --round) {
      if (leader_of(aggregator, round, leader.count) != leader.index) continue;
      last = std::max(last, map_.window(round, aggregator).begin);
      break;
    }
  });
  return last;
}

}  // namespace headrace::plan
