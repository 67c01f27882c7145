#pragma once

#include <cstdint>

#include "base/types.h"

namespace headrace::policy {

// How many collective buffers (slots) of a file a node has where nobody asks for a number. A file's
// first call waits until the kernel has made them: 100 us for each of 256 KiB, which is what half
// of it takes to be written.

/// What `ranks` of a node that is one of `nodes` have use for: few ranks have none for many slots.
/// `is_crowded`: ranks take turns on cores; then long turns pay, of half the slots, 16 at least.
std::int64_t slots_for_ranks(int nodes, int ranks, bool is_crowded);

/// How many of those where a slot has `size` bytes: fewer large ones, but some to work on while one
/// is written, and as many as there are nodes as long as they fit into 32 MiB: what is under way in
/// a read, where each node waits for all owners.
///
/// Example: of 8 wanted, 8 of 1 MiB; of 4 MiB 4, and between 6 nodes 6.
std::int64_t slots_of_size(std::int64_t wanted, ByteCount size, int nodes);

}  // namespace headrace::policy
