#include "file/exchange_planner.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "exchange/file_state.h"

namespace headrace::file {

std::int64_t asked_aggregators(const DomainHints& domains) {
  constexpr std::int64_t kMaxCount = std::numeric_limits<int>::max();
  const plan::AggregatorHints& hint = domains.aggregators;
  if (hint.count > 0) return std::min(hint.count, kMaxCount);
  if (hint.multiplier <= 1 || domains.stripe_count <= 0) return 0;
  return std::min(hint.multiplier, kMaxCount / domains.stripe_count + 1) * domains.stripe_count;
}

namespace {

/// At most so many windows in a node's run of reads. As many windows are under way as a node has
/// buffers; with longer runs they would belong to few nodes.
constexpr std::int64_t kLongestRun = 2;

/// How many aggregators a node may have: one unless hints ask for more.
int places_of(int places, const DomainHints& domains) {
  return asked_aggregators(domains) > 0 ? places : std::min(places, 1);
}

}  // namespace

plan::AggregatorChoice choose_aggregators(std::vector<int> places, const DomainHints& domains) {
  for (int& place : places) place = places_of(place, domains);
  const bool fits_none = std::ranges::all_of(places, [](int place) { return place == 0; });
  if (fits_none) std::ranges::fill(places, 1);
  auto choice = plan::choose_aggregators(places, domains.stripe_count, domains.aggregators);
  if (fits_none) {
    const std::string rest = choice.correction.empty() ? "" : "; " + choice.correction;
    choice.correction =
        "cb_config_list gives no node of the job a place, so all may have one" + rest;
  }
  return choice;
}

int leaders_to_prepare(const DomainHints& domains, int nodes, int ranks, int cores) {
  return policy::leaders_to_prepare({.nodes = nodes,
                                     .ranks = ranks,
                                     .cores = cores,
                                     .most = exchange::kMaxLeaders,
                                     .asked = asked_aggregators(domains),
                                     .objects = domains.stripe_count});
}

ExchangePlanner::ExchangePlanner(std::size_t nodes) : windows_(nodes) {
  parts_.reserve(nodes);
  ranges_.reserve(nodes);
  places_.reserve(nodes);
}

const policy::ExchangeDecision& ExchangePlanner::decide(std::span<const NodePart> parts,
                                                        policy::PathHint hint,
                                                        const DomainHints& domains) {
  if (is_answered_ && hint == hint_ && std::ranges::equal(parts, parts_) && domains == domains_) {
    return choice_.decision;
  }
  is_answered_ = true;
  has_plan_ = false;
  hint_ = hint;
  domains_ = domains;
  choice_ = {};
  parts_.assign(parts.begin(), parts.end());
  put_together();
  find_window();
  choice_.decision = policy::decide_exchange(hint, choice_.facts);
  return choice_.decision;
}

void ExchangePlanner::put_together() {
  policy::ExchangeFacts& facts = choice_.facts;
  facts.window = std::numeric_limits<ByteCount>::max();
  facts.agrees = true;
  ready_ = std::numeric_limits<int>::max();
  granule_ = 0;
  ranges_.clear();
  for (const NodePart& part : parts_) {
    ranges_.push_back({part.begin, part.end, part.bytes});
    facts.agrees = facts.agrees && part.direction == parts_.front().direction &&
                   part.direction != NodePart::kNoDirection;
    facts.window = std::min(facts.window, part.window_size);
    ready_ = std::min(ready_, part.leaders);
    if (part.bytes == 0) continue;
    facts.nodes += 1;
    facts.bytes += part.bytes;
    facts.reaches += part.end - part.begin;
    facts.stretches += part.stretches;
    granule_ = std::gcd(granule_, part.granule);
  }
  facts.reads = parts_.front().direction == NodePart::kReads;
  facts.has_memory = facts.window > 0;
}

/// Sets the call's window size: smaller than the buffers if the call is small and stripes are
/// unknown.
void ExchangePlanner::find_window() {
  policy::ExchangeFacts& facts = choice_.facts;
  if (!facts.has_memory || facts.bytes == 0) return;
  windows_.set(ranges_, facts.window);
  facts.span = windows_.span();
  if (domains_.stripe == 0) {
    const ByteCount fitting =
        plan::fitting_window(facts.span, 2 * std::ssize(parts_), plan::kLeastWindow, facts.window);
    if (fitting != facts.window) windows_.resize(fitting);
    facts.window = fitting;
  } else if (domains_.window > 0 && domains_.window < facts.window &&
             facts.window % domains_.window == 0) {
    // Hints that came after the buffers were made may want more aggregators.
    windows_.resize(domains_.window);
    facts.window = domains_.window;
  }
  facts.large = std::min(facts.window, domains_.large);
}

/// Chooses the aggregators. They depend on the call only with even shares of what each call
/// accesses.
void ExchangePlanner::choose_aggregators() {
  const auto same_places = [this](const NodePart& part, int places) {
    return places_of(part.places, domains_) == places;
  };
  if (aggregators_for_ == domains_ && std::ranges::equal(parts_, places_, same_places)) return;
  aggregators_for_.reset();
  places_.clear();
  for (const NodePart& part : parts_) places_.push_back(places_of(part.places, domains_));
  plan::AggregatorChoice choice = file::choose_aggregators(places_, domains_);
  aggregators_.clear();
  aggregators_.reserve(choice.aggregators.size());
  int most = 1;
  for (const plan::Aggregator& one : choice.aggregators) {
    aggregators_.push_back(one.node);
    most = std::max(most, one.place + 1);
  }
  most_asked_ = asked_aggregators(domains_) > 0 ? most : 0;
  correction_ = std::move(choice.correction);
  aggregators_for_ = domains_;
}

void ExchangePlanner::make_plan() {
  if (has_plan_) return;
  const ByteCount size = choice_.facts.window;
  const std::int64_t granule = std::gcd(granule_, size);
  choice_.granule_shift = std::countr_zero(static_cast<std::uint64_t>(granule));
  choose_aggregators();
  const int nodes = static_cast<int>(parts_.size());
  choice_.leading = policy::decide_leaders(nodes, ready_, most_asked_, choice_.facts.bytes);
  plan_.emplace(ranges_, windows_, owners(), choice_.leading.leaders, joined_within());
  has_plan_ = true;
}

/// Reads request window by window, as buffers become free, so nothing is joined.
std::int64_t ExchangePlanner::joined_within() const {
  if (parts_.front().direction == NodePart::kReads) return 0;
  const std::size_t nodes = parts_.size();
  const std::size_t aggregators = aggregators_.size();
  // Leaders that share one aggregator's windows would wait too long for the second window.
  const auto leaders = static_cast<std::size_t>(choice_.leading.leaders);
  if (leaders > 1 && aggregators != leaders * nodes) return 0;
  const NodePart& least = *std::ranges::min_element(parts_, {}, &NodePart::slots);
  return policy::joined_within(choice_.facts.window, least.slots,
                               static_cast<std::int64_t>(aggregators));
}

plan::Owners ExchangePlanner::owners() const {
  const ByteCount size = choice_.facts.window;
  if (domains_.alignment != plan::Alignment::persistent) {
    const bool has_parts = domains_.alignment == plan::Alignment::stripes &&
                           domains_.stripe > size && domains_.stripe % size == 0;
    return plan::Owners::even(aggregators_, windows_.range(0).begin / size,
                              windows_.range(windows_.count() - 1).end / size,
                              has_parts ? domains_.stripe / size : 1);
  }
  if (parts_.front().direction == NodePart::kReads && domains_.stripe_count == 0) {
    return plan::Owners::in_runs(aggregators_, windows_.count(), kLongestRun);
  }
  return plan::Owners::of_stripes(aggregators_, size, domains_.stripe, domains_.stripe_count);
}

}  // namespace headrace::file
