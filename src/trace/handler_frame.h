#pragma once

#include <cstdint>

/// Handlers of signals may interrupt the program in malloc, or while it holds any lock. So what
/// takes memory or locks must not be done for calls that a handler makes.
namespace headrace::trace {

/// Finds out what marks the frame of a handler: where it returns to, in the C library. Call it
/// before others; without it no frame is taken for a handler's.
void learn_handler_mark() noexcept;

/// Whether a handler's frame lies on the stack between `slot` and `end`, or 64 KiB further out than
/// `slot` if that is nearer. An old one that was overwritten in part may look like one.
bool may_be_in_handler(const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;

/// The same on a stack of which no end is known. Some 50 microseconds.
bool may_be_in_handler() noexcept;

}  // namespace headrace::trace
