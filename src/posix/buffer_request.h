#pragma once

#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace headrace::posix {

/// The buffers of one descriptor.
struct BufferShape {
  ByteCount size = 0;         ///< bytes of a block
  int count = 1;              ///< blocks that hold bytes back; HeldBlocks::kMost at most
  std::int64_t prefetch = 0;  ///< blocks that the kernel reads behind one that was read ahead
};

/// What the user wants of buffers for a file.
struct BufferRequest {
  BufferShape shape;        ///< size 0: none are wanted
  bool is_verbose = false;  ///< tells at close what they did
};

/// What is wanted for a file, by its name as the program gave it, and in full. Called by signal
/// handlers, too: must take no lock and no memory.
using FindBufferRequest = BufferRequest (*)(std::string_view given_name,
                                            std::string_view full_name);

}  // namespace headrace::posix
