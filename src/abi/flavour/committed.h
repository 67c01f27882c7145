#pragma once

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Whether MPI accepts the datatype for communication, so that it is valid and committed. MPI has
/// no procedure for this, and most procedures end the job when they get an invalid handle.
bool is_committed(MPI_Datatype datatype);

}  // namespace headrace::HEADRACE_FLAVOUR
