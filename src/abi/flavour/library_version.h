#pragma once

#include <string_view>

namespace headrace::HEADRACE_FLAVOUR {

/// What the library says of itself (MPI_Get_library_version); empty if it does not.
std::string_view library_version() noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR
