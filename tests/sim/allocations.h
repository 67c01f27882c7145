#pragma once

#include <cstdint>

namespace headrace::sim {

/// How often this thread has allocated memory by operator new.
std::int64_t allocations_of_thread();
/// Bytes that it has allocated so, given back or not.
std::int64_t allocated_by_thread();

}  // namespace headrace::sim
