#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headrace::trace {

/// A function that is called within its object is to lead to its stub: its first instructions are
/// to become a jump. x86-64.
struct Patch {
  void* entry = nullptr;
  const void* door = nullptr;          ///< where the jump leads: to the stub
  const void* continuation = nullptr;  ///< where the function goes on from its stub
  std::string refusal;                 ///< why it cannot be done; empty: it can
};

/// Of a function whose entry is so many bytes of nops.
Patch prepare_nops(void* entry, std::uint32_t length, const void* stub);

/// Of one that begins with `moved`, whole instructions that may lie elsewhere: they are copied,
/// followed by a jump behind them.
Patch prepare_prologue(void* entry, std::span<const unsigned char> moved, const void* stub);

/// Writes the jumps, if no other thread runs then: one might be within the instructions. Sets
/// `refusal` of those that cannot be written.
void apply(std::span<Patch> patches);

}  // namespace headrace::trace
