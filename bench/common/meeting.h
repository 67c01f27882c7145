#pragma once

#include <mpi.h>

namespace headrace::bench {

/// A barrier in which ranks that outnumber the cores sleep, whatever the MPI does while it waits:
/// one that spins would take the cores from the ranks that are still being timed. Collective.
void meet(MPI_Comm communicator);

}  // namespace headrace::bench
