#pragma once

#include <cstdint>

#include "base/rounding.h"

namespace headrace {

/// Whether `to` lies 1 to 31 bytes further into its page than `from` into its own. On some
/// processors, a copy by `rep movsb`, as the C library and the kernel make it, then takes up to ten
/// times as long (docs/measurements/copy-kernels.md). Copies from a file's whole pages to a large
/// block of malloc are such copies, since malloc's large blocks begin 16 bytes into a page.
constexpr bool is_misplaced(std::uintptr_t to, std::uintptr_t from) {
  constexpr std::uintptr_t kSlowBelow = 32;
  const std::uintptr_t distance = (to - from) % std::uintptr_t{kPage};
  return distance != 0 && distance < kSlowBelow;
}

inline bool is_misplaced(const void* to, const void* from) {
  return is_misplaced(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from));
}

}  // namespace headrace
