#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"

namespace headrace {

/// 128 random bits.
using Secret = std::array<std::byte, 16>;

Result<Secret> draw_secret();

/// Fills `bytes`, 256 at most, from the kernel's generator.
Error draw_random(std::span<std::byte> bytes);

/// Takes equally long whatever the difference.
bool is_same(const Secret& a, const Secret& b);

}  // namespace headrace
