#pragma once

#include <cstddef>

#include "collective/algorithm.h"

// Gathering to all: each rank's block goes to its place in memory that the node shares, leaders
// exchange what their nodes have, and each rank takes all.

namespace headrace::collective {

/// This rank's block comes to the stage, and all of the node know.
void gather_on_node(const Shape& shape, const Call& call, Schedule& schedule);
/// The leader has brought all blocks to the stage; all of the node take them.
void take_all(const Shape& shape, Schedule& schedule);

/// Bytes of all ranks' blocks.
std::size_t total_bytes(const Shape& shape, const Call& call);
/// Bytes that a node has to get from others, on average.
double missing_bytes(const Shape& shape, const Call& call);

const char* obstacle_between_nodes(const Shape& shape, const Call& call, const Limits& limits);
std::size_t largest_gathered(const Shape& shape, const Limits& limits);

}  // namespace headrace::collective
