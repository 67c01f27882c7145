#pragma once

#include "abi/flavour/job.h"
#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Opens a native handle that stands for a file of ours, so that error handlers, conversion to
/// Fortran and the like work on it. It belongs to this rank alone and nothing is ever read through
/// it. MPI_FILE_NULL if the library refuses. With sessions only, a session must be held meanwhile.
MPI_File open_identity();
/// Gives the handle back when its file is closed. It may stay open for a later file, unless it was
/// opened in a session of ours.
void close_identity(MPI_File handle, const SessionHold& session);

}  // namespace headrace::HEADRACE_FLAVOUR
