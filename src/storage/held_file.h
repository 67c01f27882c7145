#pragma once

#include "base/held_descriptor.h"

namespace headrace::storage {

/// Takes a file's descriptor, and moves it to a high number if that costs nothing and no process
/// has locks on the file: moving closes a descriptor, which may ask a server and drops POSIX locks
/// that the program has on the file. A standard descriptor (0 to 2) always moves, since the
/// program's output would go into the file. Empty, and errno EMFILE, if no number is free.
HeldDescriptor hold_file(int descriptor);

}  // namespace headrace::storage
