#include "abi/flavour/error_handler.h"

#include <map>
#include <mutex>
#include <new>

namespace headrace::HEADRACE_FLAVOUR {

#ifdef HEADRACE_FLAVOUR_OPENMPI

void note_error_handler(MPI_Errhandler, MPI_File_errhandler_function*) {}

/// Open MPI refuses MPI_File_call_errhandler on MPI_FILE_NULL, which its own procedures raise their
/// errors through. They return the error whatever the handler does.
int call_error_handler(MPI_File fh, int code) {
  if (fh != MPI_FILE_NULL) {
    native.File_call_errhandler(fh, code);
    return code;
  }
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (native.File_get_errhandler(MPI_FILE_NULL, &handler) != MPI_SUCCESS) return code;
  invoke_error_handler(handler, MPI_FILE_NULL, kFileObject, code, "MPI_File_call_errhandler");
  native.Errhandler_free(&handler);
  return code;
}

#else

namespace {

using Function = MPI_File_errhandler_function;

struct Known {
  std::mutex mutex;
  std::map<MPI_Errhandler, Function*> functions;
};

/// Never destroyed: calls arrive during exit too. A handler that was freed stays known, since files
/// may have it yet; a new one of the same handle takes its place.
Known& known() {
  static Known& only = *new Known;
  return only;
}

/// Null where it is predefined, or not C's.
Function* function_of(MPI_Errhandler handler) {
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  const auto found = own.functions.find(handler);
  return found == own.functions.end() ? nullptr : found->second;
}

Function* function_of(MPI_File fh) {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (native.File_get_errhandler(fh, &handler) != MPI_SUCCESS) return nullptr;
  Function* const function = function_of(handler);
  native.Errhandler_free(&handler);  // the file has it still
  return function;
}

}  // namespace

void note_error_handler(MPI_Errhandler handler, Function* function) {
  forget_error_handler(handler);
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  try {
    own.functions.emplace(handler, function);
  } catch (const std::bad_alloc&) {
    return;  // the handler is called, as any other
  }
}

void forget_error_handler(MPI_Errhandler handler) {
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  own.functions.erase(handler);
}

int call_error_handler(MPI_File fh, int code) {
  Function* const function = function_of(fh);
  if (function == nullptr) {
    native.File_call_errhandler(fh, code);
  } else {
    function(&fh, &code);
  }
  return code;
}

#endif

}  // namespace headrace::HEADRACE_FLAVOUR
