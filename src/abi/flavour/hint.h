#pragma once

#include <string>

#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Info key by which MPI says which kinds of memory it supports (MPI 4.1, 11.4.3).
inline constexpr const char* kMemoryKinds = "mpi_memory_alloc_kinds";

/// All keys and values of an info object; none for MPI_INFO_NULL.
file::Hints hints_of(MPI_Info info);

/// What info key mpi_memory_alloc_kinds of a communicator says; "" if it says nothing.
std::string memory_kinds_of(MPI_Comm communicator);

/// Makes a new info object, which the program must free. Leaves out keys and values that are too
/// long for this library's info objects.
Error make_info(const file::Hints& hints, MPI_Info* info);

}  // namespace headrace::HEADRACE_FLAVOUR
