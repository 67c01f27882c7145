#include "engine/exchanged_transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

namespace headrace::engine {
namespace {

using exchange::Values;
using policy::ExchangeReason;

/// What a leader publishes to its node; the order of its Values.
enum Field : std::size_t {
  kIsChosen,
  kReason,
  kNodes,
  kBytes,
  kSpan,
  kReaches,
  kStretches,
  kWindow,
  kKnownWindow,
  kKnownBegin,
  kGranuleShift,
};
static_assert(kGranuleShift < std::tuple_size_v<Values>);

/// Windows of small calls are halved down to this, so that all nodes have some to write.
constexpr ByteCount kLeastWindow = 64 << 10;

/// All nodes' parts as one: what all leaders derive alike.
struct Together {
  policy::ExchangeFacts facts;
  std::vector<plan::RankRange> ranges;
  std::int64_t granule = 0;
};

Together put_together(std::span<const NodePart> parts) {
  Together all;
  policy::ExchangeFacts& facts = all.facts;
  facts.window = std::numeric_limits<ByteCount>::max();
  facts.agrees = true;
  for (const NodePart& part : parts) {
    all.ranges.push_back({part.begin, part.end, part.bytes});
    facts.agrees = facts.agrees && part.direction == parts.front().direction &&
                   part.direction != NodePart::kNoDirection;
    facts.window = std::min(facts.window, part.window_size);
    if (part.bytes == 0) continue;
    facts.nodes += 1;
    facts.bytes += part.bytes;
    facts.reaches += part.end - part.begin;
    facts.stretches += part.stretches;
    all.granule = std::gcd(all.granule, part.granule);
  }
  facts.has_memory = facts.window > 0;
  return all;
}

Values values_of(const ExchangedTransfer::Agreed& agreed) {
  Values values{};
  values[kIsChosen] = agreed.decision.is_chosen ? 1 : 0;
  values[kReason] = static_cast<std::int64_t>(agreed.decision.reason);
  values[kNodes] = agreed.facts.nodes;
  values[kBytes] = agreed.facts.bytes;
  values[kSpan] = agreed.facts.span;
  values[kReaches] = agreed.facts.reaches;
  values[kStretches] = agreed.facts.stretches;
  values[kWindow] = agreed.facts.window;
  values[kKnownWindow] = agreed.known_window;
  values[kKnownBegin] = agreed.known_begin;
  values[kGranuleShift] = agreed.granule_shift;
  return values;
}

}  // namespace

ExchangedTransfer::Agreed ExchangedTransfer::lead(NodePart mine, std::int64_t first_window,
                                                  policy::Wish wish, const DomainWish& domains) {
  if (is_broken_ || !buffers_.reserve(mine.window_size)) mine.window_size = 0;
  Agreed agreed;
  const auto met = channel_.meet_leaders(std::as_bytes(std::span(&mine, 1)));
  if (!met) {
    is_broken_ = true;
    agreed.decision.reason = ExchangeReason::no_agreement;
    channel_.publish(values_of(agreed));
    return agreed;
  }
  // Bruck's algorithm sends each leader's part on from each but one.
  const auto others = static_cast<std::size_t>(channel_.node_count() - 1);
  buffers_.sent().add(std::bit_width(others), others * sizeof(NodePart));
  std::vector<NodePart> parts(met.value().size() / sizeof(NodePart));
  std::memcpy(parts.data(), met.value().data(), met.value().size());
  Together all = put_together(parts);
  agreed.facts = all.facts;
  if (all.facts.has_memory && all.facts.bytes > 0) {
    const plan::Windows largest(all.ranges, all.facts.window);
    agreed.facts.span = largest.span();
    if (domains.stripe == 0) {
      agreed.facts.window = plan::fitting_window(
          largest.span(), std::int64_t{2} * channel_.node_count(), kLeastWindow, all.facts.window);
    }
  }
  agreed.decision = policy::decide_exchange(wish, agreed.facts);
  if (agreed.decision.is_chosen) {
    const ByteCount window = agreed.facts.window;
    const std::int64_t granule = std::gcd(all.granule, window);
    agreed.granule_shift = std::countr_zero(static_cast<std::uint64_t>(granule));
    first_window_ = first_window;
    const plan::Windows windows(all.ranges, window);
    plan_.emplace(std::move(all.ranges), window, owners(parts, domains, windows));
    // A node without data knows of some window of the call; it owns windows only.
    const std::int64_t known = mine.bytes > 0 ? plan_->windows().window_of(mine.begin) : 0;
    agreed.known_window = first_window + known;
    agreed.known_begin = plan_->windows().range(known).begin;
  }
  channel_.publish(values_of(agreed));
  return agreed;
}

plan::Owners ExchangedTransfer::owners(std::span<const NodePart> parts, const DomainWish& domains,
                                       const plan::Windows& windows) {
  std::vector<int> places;
  // One leader exchanges for a node, however many aggregators it might have.
  for (const NodePart& part : parts) places.push_back(part.places > 0 ? 1 : 0);
  const plan::AggregatorChoice choice =
      plan::choose_aggregators(places, domains.stripe_count, domains.aggregators);
  if (choice.aggregators.empty()) return plan::Owners::in_turn(channel_.node_count());
  std::vector<int> nodes;
  for (const plan::Aggregator& aggregator : choice.aggregators) nodes.push_back(aggregator.node);
  const ByteCount size = windows.window_size();
  if (domains.alignment == plan::Alignment::persistent) {
    return plan::Owners::of_stripes(std::move(nodes), size, domains.stripe, domains.stripe_count);
  }
  return plan::Owners::even(std::move(nodes), windows.range(0).begin / size,
                            windows.range(windows.count() - 1).end / size);
}

ExchangedTransfer::Agreed ExchangedTransfer::follow(const exchange::Waiter& waiter) {
  const Values& values = channel_.wait_for_published(waiter);
  Agreed agreed;
  agreed.decision = {values[kIsChosen] != 0, static_cast<ExchangeReason>(values[kReason])};
  agreed.facts.nodes = static_cast<int>(values[kNodes]);
  agreed.facts.bytes = values[kBytes];
  agreed.facts.span = values[kSpan];
  agreed.facts.reaches = values[kReaches];
  agreed.facts.stretches = values[kStretches];
  agreed.facts.window = values[kWindow];
  agreed.known_window = values[kKnownWindow];
  agreed.known_begin = values[kKnownBegin];
  agreed.granule_shift = static_cast<int>(values[kGranuleShift]);
  return agreed;
}

exchange::StagedOutcome ExchangedTransfer::move(Direction direction, const Agreed& agreed,
                                                exchange::Slots& slots, const plan::Windows* ranks,
                                                exchange::StagedAccess* access,
                                                const exchange::Waiter& waiter) {
  const exchange::ExchangedCall call{.channel = channel_,
                                     .waiter = waiter,
                                     .store = store_,
                                     .slots = slots,
                                     .known_window = agreed.known_window,
                                     .known_begin = agreed.known_begin,
                                     .window_size = agreed.facts.window,
                                     .granule_shift = agreed.granule_shift};
  const bool writes = direction == Direction::write;
  if (!channel_.is_leader()) {
    return writes ? exchange::exchanged_write(call, *access)
                  : exchange::exchanged_read(call, *access);
  }
  const exchange::LeaderCall lead{call, *plan_, *ranks, first_window_, buffers_};
  const exchange::LeaderOutcome outcome = writes ? exchange::lead_exchanged_write(lead, access)
                                                 : exchange::lead_exchanged_read(lead, access);
  is_broken_ = is_broken_ || outcome.broken;
  return outcome.own;
}

}  // namespace headrace::engine
