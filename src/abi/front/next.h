#pragma once

namespace headrace::abi {

/// Tells next_function which library PMPI_X is taken from.
void set_next_library(void* library);

/// Whether next_function found nothing, and gave what says so when it is called.
bool is_missing(void* function);

}  // namespace headrace::abi
