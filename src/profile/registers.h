#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::profile {

/// Registers as DWARF numbers them on x86-64. The return address is a register of its own: what it
/// holds in a frame is where that frame goes on.
inline constexpr std::size_t kFramePointer = 6;
inline constexpr std::size_t kStackPointer = 7;
inline constexpr std::size_t kReturnAddress = 16;
inline constexpr std::size_t kRegisters = 17;

using Registers = std::array<std::uintptr_t, kRegisters>;

/// Those that were interrupted, from the ucontext_t that a signal handler gets.
Registers registers_of_context(const void* context) noexcept;

/// False on machines whose frames we cannot follow: then samples have the program counter only.
inline constexpr bool knows_frames() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

}  // namespace headrace::profile
