#pragma once

#include <cstdint>

#include "base/rounding.h"

namespace headrace {

/// Whether `to` lies 1 to 31 bytes further in its page than `from` in its own. Copying to there by
/// `rep movsb`, as the C library and the kernel do, takes up to ten times as long on some
/// processors (docs/measurements/copy-kernels.md). Large blocks of malloc begin 16 bytes behind a
/// page, so what goes to them from whole pages of a file or a window does.
constexpr bool is_misplaced(std::uintptr_t to, std::uintptr_t from) {
  constexpr std::uintptr_t kSlowBelow = 32;
  const std::uintptr_t distance = (to - from) % std::uintptr_t{kPage};
  return distance != 0 && distance < kSlowBelow;
}

inline bool is_misplaced(const void* to, const void* from) {
  return is_misplaced(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from));
}

}  // namespace headrace
