#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Equal for processes of one node, by the kernel's boot id. Containers on a node are one, as long
/// as they share its network.
std::uint64_t node_key();

/// Whether the ranks of a communicator may be given other numbers: all must have the layer, since
/// it calls collective operations meanwhile.
bool may_be_reordered(MPI_Comm communicator);

/// Collective over an intracommunicator: the node of each of its ranks. Nodes are numbered from 0
/// in the order of their first ranks. Nothing, on all ranks, where one could not find out.
std::optional<std::vector<int>> node_of_each_rank(MPI_Comm communicator);

/// Collective: whether it is true of all ranks.
bool is_true_of_all(MPI_Comm communicator, bool mine);

}  // namespace headrace::HEADRACE_FLAVOUR
