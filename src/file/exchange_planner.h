#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/aggregators.h"
#include "plan/exchange_plan.h"
#include "policy/exchange.h"
#include "policy/leaders.h"

namespace headrace::file {

/// A node's part in a call that may be exchanged, as its leader tells the others.
struct NodePart {
  FileOffset begin = 0;
  FileOffset end = 0;
  ByteCount bytes = 0;
  std::int64_t stretches = 0;  ///< how many stretches its ranks' pieces form together, estimated
  std::int64_t granule = 0;
  ByteCount window_size = 0;  ///< bytes of a collective buffer; 0: it has none
  std::int32_t places = 1;    ///< how many aggregators it may have
  std::int32_t leaders = 1;   ///< how many ranks are ready to lead, at least 1
  std::int32_t slots =
      0;  ///< how many collective buffers it has, if its messages have room for two parts
  std::int32_t direction = kReads;
  static constexpr std::int32_t kReads = 0;
  static constexpr std::int32_t kWrites = 1;
  static constexpr std::int32_t kNoDirection = -1;  ///< its ranks do not agree

  bool operator==(const NodePart&) const = default;
};
static_assert(sizeof(NodePart) == 64);

/// What all ranks have agreed on about which windows nodes own.
struct DomainHints {
  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorHints aggregators;
  ByteCount stripe = 0;           ///< bytes; 0: unknown, windows shrink with the call
  std::int64_t stripe_count = 0;  ///< 0: not known
  ByteCount window = 0;           ///< bytes of a window, if buffers are larger; 0: as large
  ByteCount large = 0;            ///< a node may as well write stretches of so many bytes itself
  bool lock_ahead = false;        ///< owners request a window's locks before they write it

  bool operator==(const DomainHints&) const = default;
};

/// How many aggregators hints ask for, capped at the largest int; 0 if none does.
std::int64_t asked_aggregators(const DomainHints& domains);

/// The aggregators of a file; `places[n]` is how many node n may have. If a list of hosts leaves no
/// node a place, it is ignored: each node may have one.
plan::AggregatorChoice choose_aggregators(std::vector<int> places, const DomainHints& domains);

/// How many of a node's ranks should be ready to lead; `ranks` and `cores` are the node's.
int leaders_to_prepare(const DomainHints& domains, int nodes, int ranks, int cores);

/// What the nodes decide about a call: whether they exchange, and how.
struct ExchangeChoice {
  policy::ExchangeDecision decision;
  policy::ExchangeFacts facts;
  policy::LeaderDecision leading;
  int granule_shift = 0;
};

/// Plans calls that may be exchanged, from the nodes' parts; all leaders come to the same plan. A
/// call that repeats the one before costs a comparison. Owners are chosen once for a file's hints
/// and nodes.
class ExchangePlanner {
 public:
  /// Takes the memory that calls of so many nodes need.
  explicit ExchangePlanner(std::size_t nodes);

  /// Decides about a call; leaders and granule come with the plan. Takes no memory.
  const policy::ExchangeDecision& decide(std::span<const NodePart> parts, policy::PathHint hint,
                                         const DomainHints& domains);
  /// Whether there is already a plan, since the call repeats the one before.
  bool has_plan() const { return has_plan_; }
  /// Makes the plan, if the nodes are to exchange. Takes memory.
  void make_plan();
  void forget_plan() { has_plan_ = false; }

  const ExchangeChoice& choice() const { return choice_; }
  const DomainHints& domains() const { return domains_; }
  /// Why the number of aggregators differs from the hints'; empty if it does not.
  const std::string& correction() const { return correction_; }
  const plan::ExchangePlan& plan() const { return *plan_; }

 private:
  void put_together();
  void find_window();
  void choose_aggregators();
  /// Owners of the windows of the call.
  plan::Owners owners() const;
  std::int64_t joined_within() const;

  // The last question.
  bool is_answered_ = false;
  bool has_plan_ = false;
  std::vector<NodePart> parts_;
  policy::PathHint hint_ = policy::PathHint::automatic;
  DomainHints domains_;
  // The last answer.
  ExchangeChoice choice_;
  std::optional<plan::ExchangePlan> plan_;

  // Working memory, and what is kept between calls.
  std::vector<plan::RankRange> ranges_;
  std::int64_t granule_ = 0;
  int ready_ = 1;  ///< how many ranks of each node may lead
  plan::Windows windows_;
  std::vector<int> places_;                     ///< places for which aggregators_ are chosen
  std::optional<DomainHints> aggregators_for_;  ///< none if memory lacked for them
  std::vector<int> aggregators_;                ///< the node of each aggregator
  std::string correction_;                      ///< why their number differs from the hints'
  int most_asked_ = 0;  ///< the most aggregators on one node, if hints ask for some
};

}  // namespace headrace::file
