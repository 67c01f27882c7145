#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "profile/code_map.h"
#include "profile/registers.h"

namespace headrace::profile {

/// Where a register of the caller is, as unwind tables say it. CFA is the canonical frame address.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    same,        ///< in the register itself
    undefined,   ///< nowhere; of the return address: there is no caller
    saved,       ///< at CFA + `number`
    value,       ///< it is CFA + `number`
    moved,       ///< in register `number`
    expression,  ///< at the address that the expression gives
    computed     ///< it is what the expression gives
  };
  Kind kind = Kind::same;
  std::int64_t number = 0;
  std::span<const std::byte> expression;
};

/// How to come from a frame to its caller's, at one instruction.
struct FrameRules {
  std::uint64_t cfa_register = kStackPointer;
  std::int64_t cfa_offset = 0;
  std::span<const std::byte> cfa_expression;  ///< instead of these two, unless it is empty
  std::array<RegisterRule, kRegisters> registers;
  bool is_signal_frame = false;  ///< the caller was interrupted, and has made no call
};

/// The rules for the instruction at `address`, which the object has, from its .eh_frame. Nothing if
/// it has none for it, or they make no sense. (DWARF 5, section 6.4; Linux Standard Base, Core.)
std::optional<FrameRules> find_rules(const CodeRange& object, std::uintptr_t address) noexcept;

}  // namespace headrace::profile
