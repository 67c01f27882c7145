#pragma once

#include <span>

#include "abi/flavour.h"
#include "abi/flavour/native.h"

/// The error handlers that the program makes for files. Open MPI's procedures return the code that
/// they call a handler with; MPICH's return what the handler leaves there, and one that sets
/// MPI_SUCCESS has dealt with the error. MPI_File_call_errhandler does not tell: so the library
/// gets functions of ours in place of the program's, which call these and see what they leave.
namespace headrace::HEADRACE_FLAVOUR {

/// MPI_File_create_errhandler, by the function behind us.
int create_error_handler(decltype(&PMPI_File_create_errhandler) next,
                         MPI_File_errhandler_function* function, MPI_Errhandler* handler);

/// Procedures of MPICH's family that change error handlers.
std::span<const abi::Extension> error_handler_extensions();

/// Calls the error handler of `fh`, which may be MPI_FILE_NULL, with `code`; it may not return.
/// Returns the code that a procedure of this library would return.
int call_error_handler(MPI_File fh, int code);

}  // namespace headrace::HEADRACE_FLAVOUR
