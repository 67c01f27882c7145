#include "profile/python_places.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>

#include "record/python_names.h"

namespace headrace::profile {
namespace {

/// One call of the interpreter: a part of the frames of Python.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Part> parts_of(const PythonSample& python) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < python.count; ++i) {
    if (!python.frames[i].is_entry() && i + 1 != python.count) continue;
    parts.push_back({begin, i + 1});
    begin = i + 1;
  }
  return parts;
}

}  // namespace

std::uintptr_t PythonPlaces::number_of(const Place& place) {
  const std::string key = place.function + '\n' + place.file + '\n' + std::to_string(place.line);
  const auto found = words_.find(key);
  if (found != words_.end()) return found->second;
  if (places_.size() == kMost) return 0;
  const std::uintptr_t word = kMark | places_.size();
  places_.push_back(place);
  words_.emplace(key, word);
  return word;
}

std::uintptr_t PythonPlaces::word_of(const record::Python& python, const PythonFrame& frame) {
  const std::uint64_t mark = record::mark_of_python_code(python, frame.code);
  if (mark == 0) return 0;
  if (known_.size() == kMost) known_.clear();
  Known& known = known_[frame];
  if (known.mark == mark) return known.word;
  record::PythonPlace read;
  const std::uintptr_t instruction = frame.instruction & ~std::uintptr_t{1};
  known = {mark, 0};
  if (record::read_python_place(python, frame.code, instruction, read)) {
    known.word =
        number_of({std::string(read.function.text()), std::string(read.file.text()), read.line});
  }
  return known.word;
}

std::vector<std::uintptr_t> merged_path(std::span<const std::uintptr_t> native, bool is_whole,
                                        const PythonSample& python,
                                        std::span<const std::uintptr_t> words,
                                        const AddressRange& interpreter) {
  const auto runs_python = [&](std::uintptr_t address) {
    return address > interpreter.begin && address <= interpreter.end;
  };
  const std::vector<Part> parts = parts_of(python);
  const auto calls = static_cast<std::size_t>(std::ranges::count_if(native, runs_python));
  // How many of the innermost calls, or parts, have no counterpart.
  const bool outermost_match = is_whole && python.is_whole;
  std::size_t spare = outermost_match && calls > parts.size() ? calls - parts.size() : 0;
  std::size_t next = outermost_match && parts.size() > calls ? parts.size() - calls : 0;
  std::vector<std::uintptr_t> path;
  path.reserve(native.size() + python.count);
  for (const std::uintptr_t address : native) {
    if (runs_python(address)) {
      if (spare > 0) {
        --spare;
      } else if (next < parts.size()) {
        for (std::size_t i = parts[next].begin; i < parts[next].end; ++i) {
          if (words[i] != 0) path.push_back(words[i]);
        }
        ++next;
      }
    }
    path.push_back(address);
  }
  return path;
}

AddressRange find_interpreter() {
  void* const code = ::dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  if (code == nullptr) return {};
  Dl_info about{};
  void* extra = nullptr;
  if (::dladdr1(code, &about, &extra, RTLD_DL_SYMENT) == 0) return {};
  const auto* const symbol = static_cast<const ElfW(Sym)*>(extra);
  if (symbol == nullptr || about.dli_saddr != code || symbol->st_size == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(code);
  return {begin, begin + symbol->st_size};
}

}  // namespace headrace::profile
