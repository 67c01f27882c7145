#pragma once

#include <dlfcn.h>

namespace headrace::device {

/// Sets a pointer to a library's function of that name. Returns whether it was found.
template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace headrace::device
