#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "profile/registers.h"
#include "profile/stack_copy.h"

namespace headrace::profile {

/// The value of a DWARF expression as unwind tables have them: arithmetic, registers, and words of
/// the stack. `first` is pushed before. Nothing where it fails, or reads elsewhere.
std::optional<std::uintptr_t> evaluate(std::span<const std::byte> expression,
                                       const Registers& registers, const StackCopy& stack,
                                       std::optional<std::uintptr_t> first) noexcept;

}  // namespace headrace::profile
