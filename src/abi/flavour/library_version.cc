#include "abi/flavour/library_version.h"

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

std::string_view library_version() noexcept {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  static const bool is_known = [] {
    int length = 0;
    return native.Get_library_version != nullptr &&
           native.Get_library_version(text, &length) == MPI_SUCCESS;
  }();
  return is_known ? text : "";
}

}  // namespace headrace::HEADRACE_FLAVOUR
