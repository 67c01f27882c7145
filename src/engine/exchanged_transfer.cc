#include "engine/exchanged_transfer.h"

#include <algorithm>
#include <bit>
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

/// Unlike what a leader publishes that calls something else.
constexpr std::int64_t kChosen = 0x63686f73656e2e2e;

Values values_of(const ExchangedTransfer::Agreed& agreed) {
  Values values{};
  values[kIsChosen] = agreed.decision.is_chosen ? kChosen : 0;
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

/// Nodes that this rank meets as a leader.
std::size_t leaders_of(const exchange::Channel& channel) {
  const bool meets = channel.is_leader() && channel.node_count() > 1;
  return meets ? static_cast<std::size_t>(channel.node_count()) : 0;
}

}  // namespace

ExchangedTransfer::ExchangedTransfer(exchange::Channel& channel, storage::Store& store)
    : channel_(channel), store_(store), windows_(leaders_of(channel)) {
  parts_.resize(leaders_of(channel));
  scratch_.resize(leaders_of(channel));
  ranges_.reserve(leaders_of(channel));
}

ExchangedTransfer::Agreed ExchangedTransfer::lead(NodePart mine, std::int64_t first_window,
                                                  policy::Wish wish, const DomainWish& domains) {
  const int nodes = channel_.node_count();
  if (is_broken_ || !buffers_.reserve(channel_.messenger(), nodes, mine.window_size)) {
    mine.window_size = 0;
  }
  Agreed agreed;
  const Error apart = channel_.meet_leaders(std::as_bytes(std::span(&mine, 1)),
                                            std::as_writable_bytes(std::span(scratch_)),
                                            std::as_writable_bytes(std::span(parts_)));
  if (apart) {
    is_broken_ = true;
    agreed.decision.reason = ExchangeReason::no_agreement;
    channel_.publish(values_of(agreed));
    return agreed;
  }
  // Bruck's algorithm sends each leader's part on from each but one.
  const auto others = static_cast<std::size_t>(nodes - 1);
  buffers_.sent().add(std::bit_width(others), others * sizeof(NodePart));
  agreed = agree(wish, domains);
  if (agreed.decision.is_chosen) {
    const Error lacking = attempt([&]() -> Error {
      prepare(agreed, domains);
      return {};
    });
    const Result<bool> ready = channel_.are_leaders_ready(!lacking);
    buffers_.sent().add(std::bit_width(others), std::bit_width(others));
    is_broken_ = !ready;
    if (!ready) agreed.decision = {false, ExchangeReason::no_agreement};
    if (ready && !ready.value()) agreed.decision = {false, ExchangeReason::no_memory};
  }
  if (agreed.decision.is_chosen) {
    first_window_ = first_window;
    // A node without data knows of some window of the call; it owns windows only.
    const std::int64_t known = mine.bytes > 0 ? plan_->windows().window_of(mine.begin) : 0;
    agreed.known_window = first_window + known;
    agreed.known_begin = plan_->windows().range(known).begin;
  }
  channel_.publish(values_of(agreed));
  return agreed;
}

ExchangedTransfer::Agreed ExchangedTransfer::agree(policy::Wish wish, const DomainWish& domains) {
  Agreed agreed;
  policy::ExchangeFacts& facts = agreed.facts;
  facts.window = std::numeric_limits<ByteCount>::max();
  facts.agrees = true;
  ranges_.clear();
  std::int64_t granule = 0;
  for (const NodePart& part : parts_) {
    ranges_.push_back({part.begin, part.end, part.bytes});
    facts.agrees = facts.agrees && part.direction == parts_.front().direction &&
                   part.direction != NodePart::kNoDirection;
    facts.window = std::min(facts.window, part.window_size);
    if (part.bytes == 0) continue;
    facts.nodes += 1;
    facts.bytes += part.bytes;
    facts.reaches += part.end - part.begin;
    facts.stretches += part.stretches;
    granule = std::gcd(granule, part.granule);
  }
  facts.has_memory = facts.window > 0;
  if (facts.has_memory && facts.bytes > 0) {
    windows_.set(ranges_, facts.window);
    facts.span = windows_.span();
    if (domains.stripe == 0) {
      facts.window = plan::fitting_window(facts.span, std::int64_t{2} * channel_.node_count(),
                                          plan::kLeastWindow, facts.window);
    }
    granule = std::gcd(granule, facts.window);
    agreed.granule_shift = std::countr_zero(static_cast<std::uint64_t>(granule));
  }
  agreed.decision = policy::decide_exchange(wish, facts);
  return agreed;
}

/// Takes all memory that the exchange needs on this leader.
void ExchangedTransfer::prepare(const Agreed& agreed, const DomainWish& domains) {
  windows_.set(ranges_, agreed.facts.window);
  plan_.emplace(ranges_, agreed.facts.window, owners(domains));
}

plan::Owners ExchangedTransfer::owners(const DomainWish& domains) const {
  std::vector<int> places;
  // One leader exchanges for a node, however many aggregators it might have.
  for (const NodePart& part : parts_) places.push_back(part.places > 0 ? 1 : 0);
  const plan::AggregatorChoice choice =
      plan::choose_aggregators(places, domains.stripe_count, domains.aggregators);
  if (choice.aggregators.empty()) return plan::Owners::in_turn(channel_.node_count());
  std::vector<int> nodes;
  for (const plan::Aggregator& aggregator : choice.aggregators) nodes.push_back(aggregator.node);
  const ByteCount size = windows_.window_size();
  if (domains.alignment == plan::Alignment::persistent) {
    return plan::Owners::of_stripes(std::move(nodes), size, domains.stripe, domains.stripe_count);
  }
  return plan::Owners::even(std::move(nodes), windows_.range(0).begin / size,
                            windows_.range(windows_.count() - 1).end / size);
}

ExchangedTransfer::Agreed ExchangedTransfer::follow(const exchange::Waiter& waiter) {
  const Values& values = channel_.wait_for_published(waiter);
  Agreed agreed;
  agreed.decision = {values[kIsChosen] == kChosen, static_cast<ExchangeReason>(values[kReason])};
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
  if (outcome.broken) {
    is_broken_ = true;
    buffers_.abandon();
  }
  return outcome.own;
}

}  // namespace headrace::engine
