#pragma once

#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// All keys and values of an info object; none for MPI_INFO_NULL.
file::Hints hints_of(MPI_Info info);

/// Makes a new info object, which the program must free. Leaves out keys and values that are too
/// long for this library's info objects.
Error make_info(const file::Hints& hints, MPI_Info* info);

}  // namespace headrace::HEADRACE_FLAVOUR
