#pragma once

#include <cstdint>

#include "abi/flavour.h"
#include "record/path_store.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

/// record::CallerOf: by the object that a call comes from. The MPI library's Fortran layers are
/// objects of their own: what they call, the program calls, but for what they ask for themselves,
/// such as how many ranks there are. A tool that stands between (Darshan, mpiP) calls for the
/// program in its MPI_X what it was called for, MPI_X; whatever else it calls is its own.
record::Caller caller_of(std::uintptr_t return_address, int procedure);

}  // namespace headrace::HEADRACE_FLAVOUR::recording
