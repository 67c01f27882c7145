#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"

namespace headrace {

/// 128 random bits.
using Secret = std::array<std::byte, 16>;

Result<Secret> draw_secret();

/// Fills `bytes` (at most 256) from the kernel's random generator.
Error draw_random(std::span<std::byte> bytes);

/// Compares in a time that does not depend on where the two differ.
bool is_same(const Secret& a, const Secret& b);

}  // namespace headrace
