#include "policy/leaders.h"

#include <algorithm>

#include "policy/generated/costs.h"

namespace headrace::policy {
namespace {

/// Unless a hint asks for it, several ranks lead only if there are so many cores for each: other
/// ranks copy pieces meanwhile, and the MPI library may need cores, too.
constexpr int kCoresForEach = 8;

}  // namespace

int leaders_to_prepare(const LeaderFacts& facts) {
  const std::int64_t most = std::min(facts.most, facts.ranks);
  const auto on_each = [&](std::int64_t all) { return (all + facts.nodes - 1) / facts.nodes; };
  std::int64_t wanted = 1;
  if (facts.asked > 0) {
    wanted = on_each(facts.asked);
  } else if (facts.objects > 0) {
    // With more, two would write to one object at the same time.
    wanted = std::min<std::int64_t>(facts.cores / kCoresForEach, on_each(facts.objects));
  }
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, most)));
}

double leading_cost(int nodes, int leaders, ByteCount bytes) {
  const CommonCosts& cost = kMeasuredCosts.common;
  const double of_node = static_cast<double>(bytes) / nodes;
  const double sent = of_node * (nodes - 1) / nodes;
  return (sent * cost.message_byte + of_node * kMeasuredCosts.write.window_byte) / leaders +
         (leaders - 1) * (cost.further_leader + cost.further_word * nodes);
}

LeaderDecision decide_leaders(int nodes, int ready, int asked, ByteCount bytes) {
  if (ready <= 1) return {1, LeaderReason::no_more};
  if (asked > 0) return {std::min(ready, asked), LeaderReason::asked_for};
  int best = 1;
  for (int leaders = 2; leaders <= ready; ++leaders) {
    if (leading_cost(nodes, leaders, bytes) < leading_cost(nodes, best, bytes)) best = leaders;
  }
  return {best, best == 1 ? LeaderReason::small_call : LeaderReason::estimated};
}

std::string explain(const LeaderDecision& decision) {
  const std::string count = decision.leaders == 1
                                ? "one leader a node: "
                                : std::to_string(decision.leaders) + " leaders a node: ";
  switch (decision.reason) {
    case LeaderReason::asked_for: return count + "asked for by hint";
    case LeaderReason::estimated: return count + "estimated to be the fastest";
    case LeaderReason::small_call: return count + "the call is small";
    case LeaderReason::no_more: break;
  }
  return {};
}

}  // namespace headrace::policy
