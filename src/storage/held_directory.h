#pragma once

#include <memory>
#include <string>

#include "base/held_descriptor.h"

namespace headrace::storage {

/// A directory, which stays the same one whatever becomes of its name. Null, and errno, where it
/// cannot be held. One descriptor serves all who hold a directory at a time: programs have many
/// files open in one.
std::shared_ptr<const HeldDescriptor> hold_directory(const std::string& path);

}  // namespace headrace::storage
