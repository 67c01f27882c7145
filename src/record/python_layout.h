#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace headrace::record {

/// Where CPython's structures have their fields, in bytes.
struct PythonLayout {
  std::size_t thread_holder;  ///< in the thread state: of a pointer to what has the frame; or 0
  std::size_t current_frame;  ///< in that holder, or in the thread state
  std::size_t frame_code;
  std::size_t frame_previous;
  std::size_t frame_instruction;
  std::size_t frame_owner;
  unsigned char first_foreign_owner;  ///< frames of these owners run no Python
  std::size_t frame_entry;  ///< of a byte: the interpreter was called for this frame; or 0
  std::size_t code_first_line;
  std::size_t code_file;
  std::size_t code_function;
  std::size_t code_lines;
  std::size_t code_instructions;
  std::size_t text_ascii;  ///< where the characters of a text begin
  std::size_t text_other;
  std::uintptr_t code_tags = 0;  ///< bits of a frame's word for its code that are no address
};

/// The Python of this process.
struct Python {
  PythonLayout layout;
  void* (*thread_state)();  ///< the calling thread's; null where it has none. Needs no lock
  std::uintptr_t code_type;
  std::uintptr_t bytes_type;
  std::uintptr_t text_type;
};

/// Nothing where there is no Python, or not one whose frames are known: CPython 3.11 to 3.14 with
/// its global lock. (Before 3.11, each call of Python is a C frame, too.)
std::optional<Python> find_python();

/// As "3.13.0"; empty where there is no Python.
std::string python_version();

}  // namespace headrace::record
