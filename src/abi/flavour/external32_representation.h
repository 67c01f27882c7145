#pragma once

#include <memory>

#include "abi/flavour/representation.h"

namespace headrace::HEADRACE_FLAVOUR {

/// MPI's portable representation (MPI 4.1, section 14.5.2).
std::unique_ptr<const Representation> make_external32();

}  // namespace headrace::HEADRACE_FLAVOUR
