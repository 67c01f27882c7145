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

/// A node's part in a call that may go between nodes, as its leader tells the others.
struct NodePart {
  FileOffset begin = 0;
  FileOffset end = 0;
  ByteCount bytes = 0;
  std::int64_t stretches = 0;  ///< that its ranks' pieces form together, estimated
  std::int64_t granule = 0;
  ByteCount window_size = 0;  ///< of its collective buffers; 0: it has none
  std::int32_t places = 1;    ///< aggregators that it may have
  std::int32_t leaders = 1;   ///< ranks that are ready to lead, at least 1
  std::int32_t slots = 0;     ///< its collective buffers, if its messages have room for two parts
  std::int32_t direction = kReads;
  static constexpr std::int32_t kReads = 0;
  static constexpr std::int32_t kWrites = 1;
  static constexpr std::int32_t kNoDirection = -1;  ///< its ranks do not agree

  bool operator==(const NodePart&) const = default;
};
static_assert(sizeof(NodePart) == 64);

/// Which windows nodes own, as all ranks have agreed.
struct DomainHints {
  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorHints aggregators;
  ByteCount stripe = 0;           ///< 0: not known, windows shrink with the call
  std::int64_t stripe_count = 0;  ///< 0: not known
  ByteCount large = 0;            ///< stretches of so many bytes a node may as well write itself
  bool lock_ahead = false;        ///< owners ask for a window's locks before they write it

  bool operator==(const DomainHints&) const = default;
};

/// Aggregators that hints ask for, or more than a job has ranks; 0 where none does.
std::int64_t asked_aggregators(const DomainHints& domains);

/// How many of a node's ranks should be ready to lead; `ranks` and `cores` are the node's.
int leaders_to_prepare(const DomainHints& domains, int nodes, int ranks, int cores);

/// What the nodes decide on a call: whether they exchange, and how.
struct ExchangeChoice {
  policy::ExchangeDecision decision;
  policy::ExchangeFacts facts;
  policy::LeaderDecision leading;
  int granule_shift = 0;
};

/// Plans calls that may go between nodes from what the nodes tell of them, the same on all leaders.
/// Calls that repeat the one before cost a comparison; owners are chosen once for a file's hints
/// and nodes.
class ExchangePlanner {
 public:
  /// Takes the memory that calls of so many nodes take.
  explicit ExchangePlanner(std::size_t nodes);

  /// Decides on a call; leaders and granule come with the plan. Takes no memory.
  const policy::ExchangeDecision& decide(std::span<const NodePart> parts, policy::PathHint hint,
                                         const DomainHints& domains);
  /// Whether there is a plan for what was decided: the call repeats the one before.
  bool has_plan() const { return has_plan_; }
  /// Where the nodes are to exchange. Takes memory.
  void make_plan();
  void forget_plan() { has_plan_ = false; }

  const ExchangeChoice& choice() const { return choice_; }
  const DomainHints& domains() const { return domains_; }
  /// Why there are not as many aggregators as hints ask for; empty where there are.
  const std::string& correction() const { return correction_; }
  const plan::ExchangePlan& plan() const { return *plan_; }

 private:
  void put_together();
  void find_window();
  void choose_aggregators();
  /// Of the windows of the call.
  plan::Owners owners() const;
  std::int64_t joined_within() const;

  // What was asked last.
  bool is_answered_ = false;
  bool has_plan_ = false;
  std::vector<NodePart> parts_;
  policy::PathHint hint_ = policy::PathHint::automatic;
  DomainHints domains_;
  // What was answered.
  ExchangeChoice choice_;
  std::optional<plan::ExchangePlan> plan_;

  // What it takes.
  std::vector<plan::RankRange> ranges_;
  std::int64_t granule_ = 0;
  int ready_ = 1;  ///< ranks of each node that may lead
  plan::Windows windows_;
  std::vector<int> places_;                     ///< for which aggregators_ are chosen
  std::optional<DomainHints> aggregators_for_;  ///< none where memory lacked for them
  std::vector<int> aggregators_;  ///< the node of each; empty where no node may have one
  std::string correction_;        ///< of their count
  int most_asked_ = 0;            ///< aggregators of a node, where hints ask for some
};

}  // namespace headrace::file
