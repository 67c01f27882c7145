#pragma once

#include <cstdint>

#include "base/types.h"

namespace headrace::policy {

// How many collective buffers (slots) a node has for a file by default. A file's first call waits
// until the kernel has made their pages: 100 us for a slot of 256 KiB, half of the time that
// writing it takes.

/// How many slots are of use to `ranks` ranks of one of `nodes` nodes: few ranks cannot use many.
/// `is_crowded`: ranks take turns on cores; then long turns pay, of half of the slots, and there
/// are at least 16.
std::int64_t slots_for_ranks(int nodes, int ranks, bool is_crowded);

/// How many of the `wanted` slots if each has `size` bytes: fewer large ones, but enough to fill
/// some while one is written; and as many as there are nodes if they fit into 32 MiB, since in a
/// read each node waits for all owners.
///
/// Example: of 8 wanted, 8 of 1 MiB; of 4 MiB 4, and between 6 nodes 6.
std::int64_t slots_of_size(std::int64_t wanted, ByteCount size, int nodes);

}  // namespace headrace::policy
