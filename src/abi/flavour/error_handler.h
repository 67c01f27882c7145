#pragma once

#include "abi/flavour/native.h"

/// The program's error handlers of files. Its procedures return the code that they are called with,
/// and in MPICH's family what the handler makes of it: one that sets it to MPI_SUCCESS has dealt
/// with the error. MPI_File_call_errhandler does not tell, so the functions are known.
namespace headrace::HEADRACE_FLAVOUR {

/// The program made `handler` of `function`. Without memory it is not known.
void note_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function);

#ifdef HEADRACE_FLAVOUR_MPICH
/// MPICH's C++ bindings, which Intel MPI has still, call this when they have made `handler` of a
/// function of C++.
void mark_cxx_error_handler(MPI_Errhandler handler, CxxCall* call);
#endif

/// Calls the error handler of `fh`, which may be MPI_FILE_NULL, with `code`; it may not return.
/// Returns the code that a procedure of this library would return.
int call_error_handler(MPI_File fh, int code);

}  // namespace headrace::HEADRACE_FLAVOUR
