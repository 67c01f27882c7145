#include "policy/exchange.h"

#include <algorithm>

#include "base/readable.h"

namespace headrace::policy {
namespace {

/// If less than one byte in so many is wanted, windows would be nearly empty, as in a staged call.
constexpr ByteCount kLeastDensity = 8;

/// A part of a larger window makes a large message alone.
constexpr ByteCount kLargestJoined = ByteCount{1} << 20;

ByteCount mean_stretch(const ExchangeFacts& facts) {
  return facts.bytes / std::max<std::int64_t>(1, facts.stretches);
}

}  // namespace

ByteCount usual_buffer_between(int nodes) {
  constexpr int kManyNodes = 32;
  constexpr ByteCount kBuffersOfFew = 4;
  constexpr ByteCount kBuffersOfMany = 8;
  return (nodes < kManyNodes ? kBuffersOfFew : kBuffersOfMany) * kUsualBuffer;
}

std::int64_t joined_within(ByteCount window, std::int64_t slots, std::int64_t aggregators) {
  return window <= kLargestJoined && 2 * aggregators <= slots ? 2 * aggregators : 0;
}

ExchangeDecision decide_exchange(PathHint hint, const ExchangeFacts& facts) {
  if (!facts.agrees) return {false, ExchangeReason::no_agreement};
  if (facts.bytes == 0) return {false, ExchangeReason::nothing_to_move};
  if (!facts.has_memory) return {false, ExchangeReason::no_memory};
  if (are_nearly_empty(facts.span / facts.window, facts.bytes, facts.span)) {
    return {false, ExchangeReason::far_apart};
  }
  if (facts.reads && is_too_sparse_to_read(facts.bytes, facts.span)) {
    return {false, ExchangeReason::far_apart};
  }
  if (hint == PathHint::exchanged) return {true, ExchangeReason::asked_for};
  if (facts.nodes < 2) return {false, ExchangeReason::one_node};
  // If nodes' ranges overlap by less than a quarter, few windows have parts of two nodes.
  if (facts.reaches < facts.span + facts.span / 4) return {false, ExchangeReason::apart};
  if (facts.bytes < facts.span / kLeastDensity) return {false, ExchangeReason::far_apart};
  if (mean_stretch(facts) >= facts.large) return {false, ExchangeReason::large_pieces};
  return {true, ExchangeReason::fine};
}

std::string explain(const ExchangeDecision& decision, const ExchangeFacts& facts) {
  const std::string pieces = "pieces of " + readable(mean_stretch(facts)) + " of a node";
  switch (decision.reason) {
    case ExchangeReason::asked_for: return "asked for by hint or setting";
    case ExchangeReason::fine:
      return pieces + " lie between those of " + std::to_string(facts.nodes - 1) +
             " others in buffers of " + readable(facts.window);
    case ExchangeReason::nothing_to_move: return "nothing to move";
    case ExchangeReason::no_agreement: return "some ranks read and others wrote";
    case ExchangeReason::no_memory:
      return "a node has no memory left for collective buffers (HEADRACE_NODE_MEMORY), or has lost "
             "messages";
    case ExchangeReason::one_node: return "one node has data";
    case ExchangeReason::apart: return "the nodes' data lie apart";
    case ExchangeReason::far_apart:
      return pieces + " lie far apart, so buffers would be nearly empty";
    case ExchangeReason::large_pieces:
      return pieces + " are large (" + readable(facts.large) + " or more)";
  }
  return {};
}

}  // namespace headrace::policy
