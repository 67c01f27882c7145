#pragma once

#include "base/held_descriptor.h"

namespace headrace::storage {

/// Takes a file's descriptor, and moves it apart where that costs nothing and nobody has locks on
/// the file: moving closes one, which tells a network file system's server, and takes POSIX locks
/// away that the program has on the file. One of the three standard descriptors always moves: what
/// the program prints would go into the file. None, and errno EMFILE, where no number is free.
HeldDescriptor hold_file(int descriptor);

}  // namespace headrace::storage
