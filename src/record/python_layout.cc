#include "record/python_layout.h"

#include <dlfcn.h>

#include <cstring>

namespace headrace::record {
namespace {

// The offsets of 64-bit machines, by a program that prints `offsetof` with each version's headers
// (pycore_frame.h, pycore_code.h, cpython/unicodeobject.h).
constexpr PythonLayout k311{56, 8, 32, 48, 56, 69, 255, 68, 72, 112, 128, 136, 184, 48, 72};
constexpr PythonLayout k312{56, 0, 0, 8, 56, 70, 3, 0, 68, 112, 128, 136, 192, 40, 56};
constexpr PythonLayout k313{0, 72, 0, 8, 56, 70, 3, 0, 68, 112, 128, 136, 200, 40, 56};

// `_Py_DebugOffsets` of 3.13, as words: what Python says of itself, where we say it, too.
bool is_as_python_says(const void* runtime, const PythonLayout& layout) {
  std::uint64_t words[71];
  std::memcpy(words, runtime, sizeof words);
  constexpr int kFreeThreaded = 2;
  return std::memcmp(runtime, "xdebugpy", 8) == 0 && words[kFreeThreaded] == 0 &&
         words[184 / 8] == layout.current_frame && words[232 / 8] == layout.frame_previous &&
         words[240 / 8] == layout.frame_code && words[248 / 8] == layout.frame_instruction &&
         words[264 / 8] == layout.frame_owner && words[280 / 8] == layout.code_file &&
         words[296 / 8] == layout.code_function && words[304 / 8] == layout.code_lines &&
         words[312 / 8] == layout.code_first_line && words[344 / 8] == layout.code_instructions &&
         words[560 / 8] == layout.text_ascii;
}

std::optional<PythonLayout> layout_of(unsigned long version) {
  switch (version >> 16) {
    case 0x030b: return k311;
    case 0x030c: return k312;
    case 0x030d: {
      const void* const runtime = ::dlsym(RTLD_DEFAULT, "_PyRuntime");
      if (runtime == nullptr || !is_as_python_says(runtime, k313)) return std::nullopt;
      return k313;
    }
    default: return std::nullopt;
  }
}

std::uintptr_t address_of(const char* symbol) {
  return reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, symbol));
}

}  // namespace

std::optional<Python> find_python() {
  const auto* version = static_cast<const unsigned long*>(::dlsym(RTLD_DEFAULT, "Py_Version"));
  if (version == nullptr || sizeof(void*) != 8) return std::nullopt;
  const std::optional<PythonLayout> layout = layout_of(*version);
  if (!layout) return std::nullopt;
  const Python python{
      *layout, reinterpret_cast<void* (*)()>(address_of("PyGILState_GetThisThreadState")),
      address_of("PyCode_Type"), address_of("PyBytes_Type"), address_of("PyUnicode_Type")};
  if (python.thread_state == nullptr || python.code_type == 0 || python.bytes_type == 0 ||
      python.text_type == 0) {
    return std::nullopt;
  }
  return python;
}

}  // namespace headrace::record
