#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "record/python_layout.h"

namespace headrace::profile {

/// A frame of Python as a sample finds it. Instructions lie at even addresses, so that the lowest
/// bit is free.
struct PythonFrame {
  std::uintptr_t code = 0;
  std::uintptr_t instruction = 0;  ///< its lowest bit: the interpreter was called for this frame

  bool is_entry() const noexcept { return (instruction & 1) != 0; }
  bool operator==(const PythonFrame&) const = default;
};

/// The frames of Python of one thread, innermost first.
struct PythonSample {
  static constexpr std::size_t kMost = 32;

  std::array<PythonFrame, kMost> frames;
  std::size_t count = 0;
  bool is_whole = false;  ///< the outermost frame is the thread's first

  std::span<const PythonFrame> all() const noexcept { return {frames.data(), count}; }
};

/// Reads those of the calling thread, which may be interrupted anywhere in Python: everything is
/// read as memory that may be gone. Async-signal-safe; a microsecond for two frames.
void read_python_frames(const record::Python& python, PythonSample& found) noexcept;

}  // namespace headrace::profile
