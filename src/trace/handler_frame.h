#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

/// Handlers of signals may interrupt the program in malloc, or while it holds any lock. So what
/// takes memory or locks must not be done for calls that a handler makes.
namespace headrace::trace {

/// Finds out what marks the frame of a handler: where it returns to, in the C library. Call it
/// before others; without it no frame is taken for a handler's.
void learn_handler_mark() noexcept;

/// Whether this is a handler on a stack of its own (sigaltstack). That stack may lie anywhere, even
/// within the thread's own. One system call; may be used where registers of vectors must not.
[[gnu::always_inline]] inline bool is_on_signal_stack() noexcept {
  stack_t stack;
  return ::syscall(SYS_sigaltstack, nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/// Whether this is a handler on a stack of its own, or a handler's frame lies between `slot` and
/// `end`, or 64 KiB further out than `slot` if that is nearer: where it returns to, and behind it a
/// stack pointer that leads further out. What is left of an old one may look like that.
bool may_be_in_handler(const std::uintptr_t* slot, const std::uintptr_t* end) noexcept;

/// The same on a stack of which no end is known. Some 50 microseconds. True as well if the system
/// does not let it be read.
bool may_be_in_handler(const std::uintptr_t* slot) noexcept;

}  // namespace headrace::trace
