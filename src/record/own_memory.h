#pragma once

#include <cstddef>

namespace headrace::record {

/// Copies memory of this process that may not be mapped. False where not all of it can be read, or
/// a filter of system calls forbids to ask. Less than a microsecond; safe in a signal handler.
bool read_own_memory(const void* from, void* to, std::size_t size) noexcept;

}  // namespace headrace::record
