#pragma once

#include <span>

#include "abi/flavour.h"
#include "abi/flavour/native.h"

/// The error handlers that the program makes for files. Open MPI's procedures return the code that
/// they call a handler with; MPICH's return what the handler leaves there, and one that sets
/// MPI_SUCCESS has dealt with the error. MPI_File_call_errhandler does not tell, so the handlers'
/// functions are noted and called directly.
namespace headrace::HEADRACE_FLAVOUR {

/// The program made `handler` of `function`. Without memory it is not known.
void note_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function);

/// Procedures of MPICH's family that change or make error handlers.
std::span<const abi::Extension> error_handler_extensions();

/// Calls the error handler of `fh`, which may be MPI_FILE_NULL, with `code`; it may not return.
/// Returns the code that a procedure of this library would return.
int call_error_handler(MPI_File fh, int code);

}  // namespace headrace::HEADRACE_FLAVOUR
