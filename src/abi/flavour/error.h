#pragma once

#include <string>

#include "abi/flavour/native.h"
#include "base/result.h"

namespace headrace::HEADRACE_FLAVOUR {

/// This ABI's error code for an error. It carries the error's message, so that MPI_Error_string
/// returns it, while the library has room for such codes; later errors get the plain class.
int code_of(const Error& error);

/// Raises an error through the error handler of `fh` (MPI_FILE_NULL if there is no file yet), which
/// may not return. Returns the code that the procedure must return.
int raise(MPI_File fh, const Error& error);

/// The error for a native call that failed while the layer did `what`.
Error native_failure(const std::string& what);

}  // namespace headrace::HEADRACE_FLAVOUR
