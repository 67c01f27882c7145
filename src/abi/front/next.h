#pragma once

namespace headrace::abi {

/// Tells next_function which library PMPI_X is taken from.
void set_next_library(void* library);

}  // namespace headrace::abi
