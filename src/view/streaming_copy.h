#pragma once

#include <cstddef>

namespace headrace::view {

/// Like std::memcpy, but uses stores that bypass the CPU's caches, if it has them (x86-64): memory
/// is written without being read first, and the caches keep what they hold. For targets that do not
/// fit into the caches. Call end_streaming() before you tell another thread about the data.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t length);
void end_streaming();

}  // namespace headrace::view
