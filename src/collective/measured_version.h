#pragma once

#include <string_view>

#include "collective/generated/uses.h"

namespace headrace::collective {

/// Whether the shipped table is of a library that says this of itself (MPI_Get_library_version):
/// not of other major versions, whose algorithms are others, nor of libraries that were made of the
/// one that was measured (Cray MPICH).
bool is_measured_version(Library library, std::string_view says);

}  // namespace headrace::collective
