#include "collective/planned_messages.h"

namespace headrace::collective {
namespace {

/// A plan on each of them looks at all of them, and in v-forms at all ranks.
constexpr int kMostNodes = 64;

/// As the rank at this place of a node sees it.
Shape seen_by(const Shape& shape, int node, int node_rank) {
  Shape seen = shape;
  seen.node_index = node;
  seen.node_size = shape.size_of(node);
  seen.node_rank = node_rank;
  seen.rank = seen.rank_on_node(node_rank);
  return seen;
}

/// Of one rank; nothing where its plan has parcels.
std::optional<std::int64_t> messages_of_rank(const Algorithm& algorithm, const Shape& shape,
                                             const Call& call, const Limits& limits) {
  Schedule schedule;
  algorithm.plan(shape, call, limits, schedule);
  std::int64_t messages = 0;
  for (const Step& step : schedule.steps) {
    if (step.kind == Step::Kind::parcels) return std::nullopt;
    if (step.kind == Step::Kind::send && shape.place_on_node(step.peer) < 0) ++messages;
  }
  return messages;
}

/// Leaders send to other nodes, and the root; nobody else does.
std::optional<std::int64_t> messages_of(const Algorithm& algorithm, const Shape& shape,
                                        const Call& call, const Limits& limits) {
  std::int64_t messages = 0;
  for (int node = 0; node < shape.node_count; ++node) {
    const Shape leader = seen_by(shape, node, 0);
    const int root = leader.place_on_node(call.root);
    const auto of_leader = messages_of_rank(algorithm, leader, call, limits);
    const auto of_root = root > 0
                             ? messages_of_rank(algorithm, seen_by(shape, node, root), call, limits)
                             : std::int64_t{0};
    if (!of_leader || !of_root) return std::nullopt;
    messages += *of_leader + *of_root;
  }
  return messages;
}

}  // namespace

std::optional<std::int64_t> planned_messages(const Algorithm& algorithm, const Shape& shape,
                                             const Call& call, const Limits& limits) {
  if (shape.node_count == 1) return 0;
  if (shape.node_count > kMostNodes) return std::nullopt;
  const std::size_t most = part_bytes(shape, call, limits);
  if (most == call.bytes) return messages_of(algorithm, shape, call, limits);
  const auto of_part = [&](std::size_t bytes) {
    Call part = call;
    part.bytes = bytes;
    if (part.blocks.size != 0) part.blocks.size = bytes;
    return messages_of(algorithm, shape, part, limits);
  };
  const auto whole = of_part(most);
  const std::size_t rest = call.bytes % most;
  const auto last = rest == 0 ? 0 : of_part(rest);
  if (!whole || !last) return std::nullopt;
  return static_cast<std::int64_t>(call.bytes / most) * *whole + *last;
}

}  // namespace headrace::collective
