#include "file/expected_choice.h"

#include <algorithm>

#include "base/rounding.h"
#include "base/settings.h"
#include "file/agreed_view.h"
#include "policy/exchange.h"
#include "policy/slot_count.h"

namespace headrace::file {
namespace {

using policy::Path;

Agreement agreement_of(const HintValues& hints, const storage::Layout& layout,
                       const ExpectedCall& call, const policy::Profile* profile,
                       ByteCount mean_piece) {
  Agreement agreement;
  agreement.profile = profile;
  agreement.ranks = call.nodes * call.node_ranks;
  agreement.hints = common_hints(hints);
  agreement.layout = layout;
  agreement.layout.is_one_file = true;
  apply_hints_and_layout(agreement);
  const std::int64_t asked = settings().buffer_count;
  const bool is_crowded = call.node_ranks > call.cores;
  set_view(agreement,
           {.node_ranks = call.node_ranks,
            .nodes = call.nodes,
            .mean_piece = agreement.ranks == 1 ? policy::kContiguousView : mean_piece,
            .is_monotonic = true,
            .slots = asked > 0 ? asked
                               : policy::slots_for_ranks(call.nodes, call.node_ranks, is_crowded)});
  return agreement;
}

policy::CallFacts facts_on_node(const Agreement& agreement, const ExpectedCall& call) {
  policy::CallFacts facts;
  facts.direction = call.direction;
  facts.node_ranks = call.node_ranks;
  facts.pieces = call.pieces * call.node_ranks;
  facts.bytes = facts.pieces * call.piece;
  // Between this node's pieces lie those of the others.
  facts.span = facts.bytes * call.nodes;
  facts.windows = std::max<std::int64_t>(1, divide_up(facts.span, agreement.window_size));
  facts.stretches_per_piece = 1.0 / call.node_ranks;
  facts.cores = call.cores;
  facts.page_transfer = settings().core_distance;
  facts.profile = agreement.profile;
  return facts;
}

policy::ExchangeFacts facts_between_nodes(const Agreement& agreement, const ExpectedCall& call) {
  policy::ExchangeFacts facts;
  facts.nodes = call.nodes;
  facts.bytes = call.piece * call.pieces * call.node_ranks * call.nodes;
  facts.span = facts.bytes;
  facts.reaches = facts.bytes * call.nodes;
  facts.stretches = call.pieces * call.nodes;
  facts.window = agreement.window_size;
  facts.large = std::min(agreement.window_size, agreement.node_window);
  facts.has_memory = true;
  facts.reads = call.direction == Direction::read;
  facts.agrees = true;
  return facts;
}

}  // namespace

Agreement expect_agreement(const HintValues& hints, const storage::Layout& layout,
                           const ExpectedCall& call, const policy::Profile* profile) {
  return agreement_of(hints, layout, call, profile, policy::kContiguousView);
}

ExpectedChoice expect_choice(const HintValues& hints, const storage::Layout& layout,
                             const ExpectedCall& call, const policy::Profile* profile) {
  const Agreement agreement = agreement_of(hints, layout, call, profile, call.piece);
  const bool writes = call.direction == Direction::write;
  const policy::PathHint hint = writes ? agreement.write_path : agreement.read_path;
  const policy::ViewDecision view = policy::decide_view(call.direction, hint, agreement.view);
  ExpectedChoice choice{view.path, policy::explain(view, agreement.view), agreement.window_size,
                        agreement.slot_count};
  if (view.path == Path::direct) return choice;
  std::string between;
  if (view.path == Path::exchanged) {
    const policy::ExchangeFacts facts = facts_between_nodes(agreement, call);
    const policy::ExchangeDecision decision = policy::decide_exchange(hint, facts);
    choice.reason = policy::explain(decision, facts);
    if (decision.is_chosen) return choice;
    between = "; each node by itself: " + choice.reason;
  }
  const policy::CallFacts facts = facts_on_node(agreement, call);
  const policy::CallDecision decision = policy::decide_call(hint, facts);
  choice.path = decision.path;
  choice.reason = policy::explain(decision, facts) + between;
  return choice;
}

}  // namespace headrace::file
