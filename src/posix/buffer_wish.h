#pragma once

#include <string_view>

#include "base/types.h"

namespace headrace::posix {

/// What the user wants of buffers for a file.
struct BufferWish {
  ByteCount size = 0;       ///< bytes of a buffer; 0: none is wanted
  bool is_verbose = false;  ///< tells at close what they did
};

/// What is wanted for a file, by its name as the program gave it, and in full. Called by signal
/// handlers, too: must take no lock and no memory.
using BufferWishes = BufferWish (*)(std::string_view given_name, std::string_view full_name);

}  // namespace headrace::posix
