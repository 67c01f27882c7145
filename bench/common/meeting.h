#pragma once

#include <mpi.h>

namespace headrace::bench {

/// Finds out whether the ranks of a node outnumber the cores that they may use. Collective.
void count_cores(MPI_Comm node);

/// A barrier in which ranks sleep if they outnumber their node's cores, whatever the MPI does while
/// it waits: one that spins would take the cores from the ranks that are still being timed. It is
/// not known before count_cores(). Collective.
void meet(MPI_Comm communicator);

}  // namespace headrace::bench
