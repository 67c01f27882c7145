#pragma once

#include <mpi.h>

namespace headrace::bench::collectives {

/// The procedures that are measured, or that others are compared with.
struct Functions {
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Allgatherv) allgatherv;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Reduce_scatter) reduce_scatter;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&MPI_Alltoallv) alltoallv;
  decltype(&MPI_Alltoallw) alltoallw;
  decltype(&MPI_Reduce) reduce;
};

/// As the program calls them: through whatever is preloaded.
Functions called_functions();

/// The MPI library's own, whatever is preloaded. Throws Failure where they are not found.
Functions library_functions();

}  // namespace headrace::bench::collectives
