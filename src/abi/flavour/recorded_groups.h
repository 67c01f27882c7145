#pragma once

#include <cstdint>
#include <vector>

#include "abi/flavour/native.h"

/// Which ranks of MPI_COMM_WORLD a communicator has.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Whether it has all of them in their order.
bool has_ranks_of_world(MPI_Comm communicator, int size);

/// Those of the own group by their numbers in MPI_COMM_WORLD; empty if one of them is not in it.
std::vector<std::int32_t> members_of(MPI_Comm communicator, int size);

/// The number of the rank that messages to `peer` go to; MPI_UNDEFINED if it is not in
/// MPI_COMM_WORLD.
int rank_in_world(MPI_Comm communicator, bool is_inter, int peer);

/// How many of the own group are on this node; -1 if that is unknown. Asks no other rank.
int ranks_on_node(MPI_Comm communicator, bool is_inter, int size);

}  // namespace headrace::HEADRACE_FLAVOUR::recording
