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
  CxxCall* cxx_call = nullptr;  ///< what calls it where it is C++'s

  void call(MPI_File fh, int& code) const {
    if (cxx_call != nullptr) return cxx_call(kCxxFile, &fh, &code, function);
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

void forget(MPI_Errhandler handler) {
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  own.handlers.erase(handler);
}

}  // namespace

void note_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function) {
  forget(handler);
  Known& own = known();
  const std::lock_guard lock(own.mutex);
  try {
    own.handlers.emplace(handler, Handler{.function = function});
  } catch (const std::bad_alloc&) {
    return;  // it is called as any other
  }
}

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

#ifdef HEADRACE_FLAVOUR_MPICH

namespace {

/// The C++ bindings call it when they have made `handler` of a function of C++.
void mark_cxx(MPI_Errhandler handler, CxxCall* call) {
  {
    Known& own = known();
    const std::lock_guard lock(own.mutex);
    const auto found = own.handlers.find(handler);
    if (found != own.handlers.end()) found->second.cxx_call = call;
  }
  native_extensions.mark_cxx(handler, call);
}

/// Such a function gets the code's value, so that it changes nothing.
int create_with_state(void* function, void* destructor, void* state, MPI_Errhandler* handler) {
  const int code = native_extensions.create_with_state(function, destructor, state, handler);
  if (code == MPI_SUCCESS) forget(*handler);
  return code;
}

}  // namespace

std::span<const abi::Extension> error_handler_extensions() {
  static const abi::Extension all[] = {
      {"MPII_Errhandler_set_cxx", reinterpret_cast<void*>(&mark_cxx)},
      {"MPIR_Errhandler_set_cxx", reinterpret_cast<void*>(&mark_cxx)},
      {"MPIX_File_create_errhandler_x", reinterpret_cast<void*>(&create_with_state)},
      {"PMPIX_File_create_errhandler_x", reinterpret_cast<void*>(&create_with_state)}};
  return all;
}

#else

std::span<const abi::Extension> error_handler_extensions() {
  return {};
}

#endif

}  // namespace headrace::HEADRACE_FLAVOUR
