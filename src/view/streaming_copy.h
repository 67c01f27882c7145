#pragma once

#include <cstddef>

namespace headrace::view {

/// As std::memcpy, by stores that bypass the CPU's caches where it has such (x86-64): the memory is
/// then written without being read first, and what the caches hold stays. For targets that do not
/// fit into the caches anyway. Call end_streaming() before another thread is told of the data.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t length);
void end_streaming();

}  // namespace headrace::view
