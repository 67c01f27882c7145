#pragma once

#include <span>

#include "abi/flavour.h"
#include "abi/flavour/native.h"

/// The error handlers that the program makes for files. Open MPI's procedures return the code with
/// which they call a handler. MPICH's return the code that the handler leaves in its argument, so a
/// handler may set MPI_SUCCESS. MPI_File_call_errhandler does not tell what the handler left. So
/// the library gets functions of ours instead of the program's; they call the program's and see
/// what it leaves.
namespace headrace::HEADRACE_FLAVOUR {

/// MPI_File_create_errhandler; `next` is the next function of the chain.
int create_error_handler(decltype(&PMPI_File_create_errhandler) next,
                         MPI_File_errhandler_function* function, MPI_Errhandler* handler);

/// Procedures of MPICH's family that change error handlers.
std::span<const abi::Extension> error_handler_extensions();

/// Calls the error handler of `fh`, which may be MPI_FILE_NULL, with `code`; it may not return.
/// Returns the code that a procedure of this library would return.
int call_error_handler(MPI_File fh, int code);

}  // namespace headrace::HEADRACE_FLAVOUR
