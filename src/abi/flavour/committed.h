#pragma once

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Whether MPI takes the datatype for communication: it is valid and committed. MPI has no
/// procedure that says so, and most that are given an invalid handle end the job.
bool is_committed(MPI_Datatype datatype);

}  // namespace headrace::HEADRACE_FLAVOUR
