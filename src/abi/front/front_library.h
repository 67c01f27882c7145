#pragma once

#include <string>

#include "abi/front/library.h"
#include "base/elf_object.h"

namespace headrace::abi {

/// A front library is a tiny object made by `headrace preload --front` for hosts that look MPI up
/// in a handle (docs/hosts.md). It needs this library and the MPI library, in this order, and
/// defines those procedures that are not exported here, as jumps to `headrace_MPI_X_c`.
bool is_front_library(const ElfObject& object);

bool is_front_library_loaded();

/// Whether an address, such as a function's, lies in a front library. Do not call it inside
/// for_each_object().
bool is_in_front_library(const void* address);

/// Why a loaded front library does not fit this MPI library, or "". If it does not fit, a look-up
/// in its handle would find a procedure of the MPI library, which would then get our files.
std::string front_library_problem(const Library& library);

}  // namespace headrace::abi
