#pragma once

#include "abi/flavour/ending_communicator.h"
#include "abi/flavour/native.h"

/// The procedures that end a communicator. `next` is the function behind us, which does it.
namespace headrace::HEADRACE_FLAVOUR::ending {

inline int Comm_free(decltype(&PMPI_Comm_free) next, MPI_Comm* comm) {
  const EndingCommunicator ending(comm != nullptr ? *comm : MPI_COMM_NULL);
  return next(comm);
}

inline int Comm_disconnect(decltype(&PMPI_Comm_disconnect) next, MPI_Comm* comm) {
  return Comm_free(next, comm);
}

}  // namespace headrace::HEADRACE_FLAVOUR::ending
