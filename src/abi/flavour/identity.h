#pragma once

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A native handle that stands for a file of ours: error handlers, conversion to Fortran and the
/// like work on it. It belongs to this rank alone and nothing is ever read through it.
/// MPI_FILE_NULL where the library refuses.
MPI_File open_identity();
/// Gives it back when its file is closed. It may stay open, for a later file.
void close_identity(MPI_File handle);

}  // namespace headrace::HEADRACE_FLAVOUR
