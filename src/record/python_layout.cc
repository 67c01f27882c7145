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
constexpr PythonLayout k314{0, 72, 0, 8, 56, 74, 3, 0, 68, 112, 128, 136, 208, 40, 56, 3};

/// Where Python says the same of itself: words of `_Py_DebugOffsets`.
struct Said {
  std::size_t current_frame;
  std::size_t frame_previous;
  std::size_t frame_code;
  std::size_t frame_instruction;
  std::size_t frame_owner;
  std::size_t code_file;
  std::size_t code_function;
  std::size_t code_lines;
  std::size_t code_first_line;
  std::size_t code_instructions;
  std::size_t text_ascii;
};
constexpr Said kSaidBy313{23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 70};
constexpr Said kSaidBy314{26, 32, 33, 34, 36, 40, 42, 43, 44, 48, 80};
constexpr std::size_t kWordsRead = 81;

bool is_as_python_says(const PythonLayout& layout, const Said& said) {
  const void* const runtime = ::dlsym(RTLD_DEFAULT, "_PyRuntime");
  if (runtime == nullptr || std::memcmp(runtime, "xdebugpy", 8) != 0) return false;
  std::uint64_t words[kWordsRead];
  std::memcpy(words, runtime, sizeof words);
  constexpr int kFreeThreaded = 2;
  return words[kFreeThreaded] == 0 && words[said.current_frame] == layout.current_frame &&
         words[said.frame_previous] == layout.frame_previous &&
         words[said.frame_code] == layout.frame_code &&
         words[said.frame_instruction] == layout.frame_instruction &&
         words[said.frame_owner] == layout.frame_owner &&
         words[said.code_file] == layout.code_file &&
         words[said.code_function] == layout.code_function &&
         words[said.code_lines] == layout.code_lines &&
         words[said.code_first_line] == layout.code_first_line &&
         words[said.code_instructions] == layout.code_instructions &&
         words[said.text_ascii] == layout.text_ascii;
}

/// Of a version that describes itself.
std::optional<PythonLayout> if_said(const PythonLayout& layout, const Said& said) {
  if (!is_as_python_says(layout, said)) return std::nullopt;
  return layout;
}

std::optional<PythonLayout> layout_of(unsigned long version) {
  switch (version >> 16) {
    case 0x030b: return k311;
    case 0x030c: return k312;
    case 0x030d: return if_said(k313, kSaidBy313);
    case 0x030e: return if_said(k314, kSaidBy314);
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

std::string python_version() {
  using Text = const char*();
  auto* const version = reinterpret_cast<Text*>(::dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (version == nullptr) return "";
  const std::string all = version();  // "3.13.0 (main, ...) [GCC ...]"
  return all.substr(0, all.find(' '));
}

}  // namespace headrace::record
