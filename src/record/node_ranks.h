#pragma once

#include <cstdint>
#include <span>

namespace headrace::record {

/// How many of these ranks of MPI_COMM_WORLD have an image on this node, as each has there that has
/// come out of MPI_Init; -1 if ranks of one node cannot be told from others. Thread-safe.
int count_on_node(std::span<const std::int32_t> ranks);

}  // namespace headrace::record
