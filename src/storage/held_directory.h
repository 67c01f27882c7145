#pragma once

#include <memory>
#include <string>

#include "base/held_descriptor.h"

namespace headrace::storage {

/// Holds a directory, whatever becomes of its name. Null, and errno, if it cannot be held. Callers
/// that hold the same directory share a descriptor, since programs have many files open in one.
std::shared_ptr<const HeldDescriptor> hold_directory(const std::string& path);

}  // namespace headrace::storage
