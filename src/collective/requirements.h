#pragma once

#include "collective/algorithm.h"
#include "collective/call.h"
#include "collective/schedule.h"

// What several algorithms need or do.

namespace headrace::collective {

inline constexpr const char* kNoneShares = "no two ranks share a node";

const char* needs_one_node(const Shape& shape, const Call& call, const Limits& limits);
/// Several nodes, of which one has several ranks.
const char* needs_nodes_of_ranks(const Shape& shape);
const char* needs_room(std::size_t bytes, const Limits& limits);

/// What gathering and scattering need: one node, or several, and small parcels.
const char* needs_parcels_on_node(const Shape& shape, const Call& call, const Limits& limits);
const char* needs_parcels_between(const Shape& shape, const Call& call, const Limits& limits);

Algorithm::Cost no_cost(const Shape& shape, const Call& call);
/// All data along a tree of nodes, whose edges carry it once.
Algorithm::Cost cost_of_tree(const Shape& shape, const Call& call);

/// All ranks of the node come, and know that all have.
void meet(Schedule& schedule);

/// Reductions: bytes up to which one rank adds up what all of its node give, which spares a
/// meeting.
inline constexpr std::size_t kMostForOne = 2048;

/// What this rank gives comes to the stage, as one of the rows of the node's ranks, and all of the
/// node know.
void give_row(const Shape& shape, const Call& call, Schedule& schedule);
/// How many rows that is, with the sums.
inline std::size_t rows_and_sums(const Shape& shape) {
  return static_cast<std::size_t>(shape.node_size) + 1;
}
/// Algorithm::largest where a node's rows and sums are all that must have room.
std::size_t largest_rows_on_node(const Shape& shape, const Limits& limits);
/// The node's ranks divide the work of adding the rows up, in rank order, and reach phase 2.
/// Returns where in the stage the sums are: behind the rows.
std::size_t add_up_rows(const Shape& shape, const Call& call, Schedule& schedule);

/// Who speaks for this rank's node, as a rank of the node: the root, or the leader of another node.
inline int head_of_node(const Shape& shape, const Call& call) {
  const int root = shape.place_on_node(call.root);
  return root < 0 ? 0 : root;
}

/// A rank's part of `bytes` that `parts` ranks divide, in whole elements.
struct Part {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};
Part part_of(std::size_t bytes, std::size_t element, int index, int parts);

}  // namespace headrace::collective
