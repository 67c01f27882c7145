#pragma once

#include <cstdint>

namespace headrace::record {

/// Whether the program had recording off then, in ticks. False where that is not known any more.
bool was_switched_off(std::int64_t then) noexcept;

}  // namespace headrace::record
