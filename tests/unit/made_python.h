#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "record/python_layout.h"

/// Objects in memory as CPython 3.13 lays them out.
namespace headrace::record {

inline constexpr PythonLayout kLayout{0, 72, 0, 8, 56, 70, 3, 0, 68, 112, 128, 136, 200, 40, 56};

using Object = std::array<unsigned char, 1024>;
inline Object code_type, bytes_type, text_type, thread;
inline bool has_thread = true;

inline std::uintptr_t address_of(const Object& object) {
  return reinterpret_cast<std::uintptr_t>(object.data());
}

inline void set(Object& object, std::size_t at, auto value) {
  std::memcpy(&object[at], &value, sizeof value);
}

inline Python fake_python() {
  return {kLayout, [] { return has_thread ? static_cast<void*>(thread.data()) : nullptr; },
          address_of(code_type), address_of(bytes_type), address_of(text_type)};
}

template <class Character>
Object text_of(std::basic_string_view<Character> characters, bool is_ascii) {
  Object text{};
  set(text, 8, address_of(text_type));
  set(text, 16, static_cast<std::uint64_t>(characters.size()));
  const unsigned kind = sizeof(Character);
  set(text, 32, kind << 2 | 1U << 5 | (is_ascii ? 1U << 6 : 0U));
  std::memcpy(&text[is_ascii ? 40 : 56], characters.data(), characters.size() * kind);
  return text;
}

/// A function of two units a line, from line 10 on.
struct Function {
  explicit Function(std::string_view called) : name(text_of(called, true)) {
    set(lines, 8, address_of(bytes_type));
    constexpr unsigned char kTwoUnits = 0x80 | 13 << 3 | 1;
    set(lines, 16, std::uint64_t{6});
    set(lines, 32, std::array<unsigned char, 6>{kTwoUnits, 0, kTwoUnits, 2, kTwoUnits, 2});
    set(code, 8, address_of(code_type));
    set(code, 16, std::uint64_t{6});
    set(code, 68, 10);
    set(code, 112, address_of(file));
    set(code, 128, address_of(name));
    set(code, 136, address_of(lines));
  }
  std::uintptr_t unit(int number) const { return address_of(code) + 200 + number * 2; }

  Object name;
  Object file = text_of(std::string_view("solver.py"), true);
  Object lines{};
  Object code{};
};

inline void set_frame(Object& frame, const Function& function, int unit, const Object* previous) {
  set(frame, 0, address_of(function.code));
  set(frame, 8, previous != nullptr ? address_of(*previous) : 0);
  set(frame, 56, function.unit(unit));
}

}  // namespace headrace::record
