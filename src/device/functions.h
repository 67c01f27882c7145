#pragma once

#include <dlfcn.h>

namespace headrace::device {

/// Finds a library's function for a pointer to a function of its type. Whether it was found.
template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace headrace::device
