#pragma once

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A communicator of this process alone, which the program does not know, and on which errors are
/// returned. MPI_COMM_NULL if MPI refuses. With sessions only, it ends with them.
MPI_Comm quiet_self();

}  // namespace headrace::HEADRACE_FLAVOUR
