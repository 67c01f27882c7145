#include "abi/flavour/committed.h"

#include "abi/flavour/job.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// A communicator on which errors are returned; MPI_COMM_NULL if MPI refuses.
MPI_Comm make_communicator() {
  MPI_Comm made = MPI_COMM_NULL;
  if (native.Comm_split(MPI_COMM_SELF, 0, 0, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  native.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/// The communicator to ask on. With sessions only, it is one that ends with them.
MPI_Comm communicator_to_ask() {
  if (!is_initialized()) return self_communicator();
  static const MPI_Comm communicator = make_communicator();  // left to MPI_Finalize
  return communicator;
}

}  // namespace

bool is_committed(MPI_Datatype datatype) {
  const MPI_Comm communicator = communicator_to_ask();
  if (communicator == MPI_COMM_NULL) return true;
  // A send to MPI_PROC_NULL only checks its arguments. MPICH does not check the type if there is no
  // data, so this sends one element at an address that is never read.
  const char nothing = 0;
  return native.Send(&nothing, 1, datatype, MPI_PROC_NULL, 0, communicator) == MPI_SUCCESS;
}

}  // namespace headrace::HEADRACE_FLAVOUR
