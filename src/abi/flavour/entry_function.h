#pragma once

#include "abi/flavour.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The typed function for a procedure called by that name; null for MPI_Init. Generated.
void* entry_function(abi::Name name, abi::Entry entry);

}  // namespace headrace::HEADRACE_FLAVOUR
