#pragma once

#include <cstdint>

namespace headrace::sim {

/// How often this thread has allocated memory by operator new.
std::int64_t allocations_of_thread();

}  // namespace headrace::sim
