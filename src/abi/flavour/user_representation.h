#pragma once

#include <memory>
#include <string>

#include "abi/flavour/representation.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A representation whose functions the program has registered (MPI 4.1, section 14.5.3).
std::unique_ptr<const Representation> make_user_representation(const std::string& name,
                                                               const Registration& registration);

}  // namespace headrace::HEADRACE_FLAVOUR
