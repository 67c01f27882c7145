#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "record/python_layout.h"

namespace headrace::record {

/// A text in UTF-8 that is cut where it is too long. Takes no memory.
template <std::size_t kSize>
class ShortText {
 public:
  std::string_view text() const { return {bytes_.data(), length_}; }

  /// False where it is full.
  bool append(std::uint32_t character) {
    if (length_ + 4 > kSize) return false;
    if (character < 0x80) {
      put(character);
    } else if (character < 0x800) {
      put(0xc0 | character >> 6);
      put(0x80 | (character & 63));
    } else if (character < 0x10000) {
      put(0xe0 | character >> 12);
      put(0x80 | (character >> 6 & 63));
      put(0x80 | (character & 63));
    } else {
      put(0xf0 | (character >> 18 & 7));
      put(0x80 | (character >> 12 & 63));
      put(0x80 | (character >> 6 & 63));
      put(0x80 | (character & 63));
    }
    return true;
  }

 private:
  void put(std::uint32_t byte) { bytes_[length_++] = static_cast<char>(byte); }

  std::array<char, kSize> bytes_{};
  std::size_t length_ = 0;
};

/// Where a frame of Python is.
struct PythonPlace {
  ShortText<256> function;  ///< the qualified name
  ShortText<1024> file;
  int line = 0;  ///< 0 where Python does not tell
};

/// What the code object at `code` and the address of the instruction that it carries out tell. All
/// is read as memory that may be anything: false where it is no code object, or cannot be read.
bool read_python_place(const Python& python, std::uintptr_t code, std::uintptr_t instruction,
                       PythonPlace& place) noexcept;

/// A number of a code object, which another one in its place hardly has; 0 where it is none, or
/// cannot be read.
std::uint64_t mark_of_python_code(const Python& python, std::uintptr_t code) noexcept;

/// The line of an instruction by a table of lines; 0 where it has none. `unit` counts instructions
/// and their caches, two bytes each. The table's form: Objects/locations.md in CPython 3.11.
int line_of_unit(std::span<const unsigned char> table, int first_line, std::size_t unit) noexcept;

}  // namespace headrace::record
