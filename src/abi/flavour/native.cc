#include "abi/flavour/native.h"

#include <dlfcn.h>

#include <type_traits>

namespace headrace::HEADRACE_FLAVOUR {

NativeCalls native;

#ifdef HEADRACE_FLAVOUR_OPENMPI
NativeData native_data;
ErrorHandlerCall* invoke_error_handler = nullptr;
const volatile int* session_count = nullptr;
#endif

#ifdef HEADRACE_FLAVOUR_MPICH
NativeExtensions native_extensions;

namespace {

template <class Function>
void bind_extension(void* library, const char* name, Function*& pointer) {
  void* const found = ::dlsym(library, name);
  if (found != nullptr) pointer = reinterpret_cast<Function*>(found);
}

}  // namespace
#endif

const char* bind_native(void* library) {
  const char* missing = nullptr;
  for_each_call(native, [&](const char* name, auto& pointer, bool required) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(library, name));
    if (pointer == nullptr && required) missing = name;
  });
#ifdef HEADRACE_FLAVOUR_OPENMPI
  for_each_datum(native_data, [&](const char* name, void*& pointer) {
    // A program linked without PIC has its own copy of the data, which all objects use.
    pointer = ::dlsym(RTLD_DEFAULT, name);
    if (pointer == nullptr) pointer = ::dlsym(library, name);
    if (pointer == nullptr) missing = name;
  });
  constexpr const char* kErrorHandlerCall = "ompi_errhandler_invoke";
  invoke_error_handler = reinterpret_cast<ErrorHandlerCall*>(::dlsym(library, kErrorHandlerCall));
  if (invoke_error_handler == nullptr) missing = kErrorHandlerCall;
  session_count = static_cast<const volatile int*>(::dlsym(library, "ompi_instance_count"));
#endif
#ifdef HEADRACE_FLAVOUR_MPICH
  bind_extension(library, "MPII_Errhandler_set_fc_ilp64", native_extensions.mark_ilp64);
#endif
  return missing;
}

}  // namespace headrace::HEADRACE_FLAVOUR
