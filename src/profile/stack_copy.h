#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace headrace::profile {

/// A part of a thread's stack as it was when the sample was taken.
struct StackCopy {
  std::uintptr_t begin = 0;  ///< the address of the first byte
  std::span<const std::byte> bytes;

  std::optional<std::uintptr_t> word(std::uintptr_t address) const noexcept {
    const std::uintptr_t place = address - begin;
    std::uintptr_t value = 0;
    if (address < begin || bytes.size() < sizeof value || place > bytes.size() - sizeof value) {
      return std::nullopt;
    }
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }
};

}  // namespace headrace::profile
