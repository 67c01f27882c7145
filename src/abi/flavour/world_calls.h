#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/flavour/native.h"
#include "base/result.h"

/// Collective calls of MPI_COMM_WORLD while it ends, of which the program has none under way any
/// more. Some ranks may come late, or never. So none of these blocks: what is not complete after
/// `patience` is given up, and the library keeps its memory. All ranks call them in one order; one
/// that calls none any more makes the others give up as well. A communicator of our own would have
/// to be made by a call that blocks, and messages on MPI_COMM_WORLD might reach receives that the
/// program has left.
namespace headrace::HEADRACE_FLAVOUR {

using Patience = std::chrono::nanoseconds;

/// All ranks' `own`, of one size.
Result<std::vector<std::byte>> all_gather(std::span<const std::byte> own, int ranks,
                                          Patience patience);

/// On rank 0 all ranks' `own`, one behind the other; nothing on the others. `sizes`: of each
/// rank's, 0 for most, of which the sum fits into an int. Being complete tells others than rank 0
/// nothing.
Result<std::vector<std::byte>> gather(std::span<const std::byte> own, std::vector<int> sizes,
                                      bool is_root, Patience patience);

/// Rank 0's `number`.
Result<std::int64_t> broadcast(std::int64_t number, Patience patience);

}  // namespace headrace::HEADRACE_FLAVOUR
