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

/// A function of the program.
struct Handler {
  MPI_File_errhandler_function* function = nullptr;
#ifdef HEADRACE_FLAVOUR_MPICH
  CxxCall* cxx_call = nullptr;  ///< what calls it where it is C++'s
#endif

  void call(MPI_File fh, int& code) const {
#ifdef HEADRACE_FLAVOUR_MPICH
    if (cxx_call != nullptr) return cxx_call(kCxxFile, &fh, &code, function);
#endif
    function(&fh, &code);
  }
};

struct Known {
  std::mutex mutex;
  std::map<MPI_Errhandler, Handler> handlers;
};

/// Never destroyed: calls arrive during exit too. A handler that was freed stays known, since files
/// may have it yet; a new one of the same handle takes its place.
Known& known() {
  static Known& only = *new Known;
  return only;
}

/// Without a function where the handler is predefined or was made before MPI_Init.
Handler handler_of(MPI_File fh) {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (native.File_get_errhandler(fh, &handler) != MPI_SUCCESS) return {};
  const MPI_Errhandler sought = handler;
  native.Errhandler_free(&handler);  // the file has it still
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  const auto found = own.handlers.find(sought);
  return found == own.handlers.end() ? Handler{} : found->second;
}

}  // namespace

void note_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function) {
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  own.handlers.erase(handler);
  try {
    own.handlers.emplace(handler, Handler{.function = function});
  } catch (const std::bad_alloc&) {
    return;  // it is called as any other
  }
}

#ifdef HEADRACE_FLAVOUR_MPICH
void mark_cxx_error_handler(MPI_Errhandler handler, CxxCall* call) {
  {
    Known& own = known();
    const std::lock_guard lock(own.mutex);
    const auto found = own.handlers.find(handler);
    if (found != own.handlers.end()) found->second.cxx_call = call;
  }
  mark_cxx_errhandler(handler, call);
}
#endif

int call_error_handler(MPI_File fh, int code) {
  const Handler handler = handler_of(fh);
  if (handler.function == nullptr) {
    native.File_call_errhandler(fh, code);
  } else {
    handler.call(fh, code);
  }
  return code;
}

#endif

}  // namespace headrace::HEADRACE_FLAVOUR
