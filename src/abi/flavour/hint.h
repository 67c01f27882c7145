#pragma once

#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// All keys and values of an info object; none for MPI_INFO_NULL.
file::Hints hints_of(MPI_Info info);

/// A new info object, which the caller of MPI owns. Keys and values that are longer than this
/// library's infos hold are left out.
Error make_info(const file::Hints& hints, MPI_Info* info);

}  // namespace headrace::HEADRACE_FLAVOUR
