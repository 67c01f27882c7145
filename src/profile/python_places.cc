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
  if (mark == 0) {
    const auto found = known_.find(frame);  // it was freed since
    return found != known_.end() ? found->second.word : 0;
  }
  if (known_.size() == kMost) known_.clear();
  Known& known = known_[frame];
  if (known.mark == mark) return known.word;
  record::PythonPlace read;
  const std::uintptr_t instruction = frame.instruction & ~std::uintptr_t{1};
  known = {mark, 0};
  // Python's own code, which calls __init__, has one name for both.
  if (record::read_python_place(python, frame.code, instruction, read) &&
      read.function.text() != read.file.text()) {
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
  const bool outermost_match = is_whole && python.is_whole;
  // Of the innermost: calls that have no frame yet, and parts whose call was not recognised.
  std::size_t spare = outermost_match && calls > parts.size() ? calls - parts.size() : 0;
  std::size_t extra =
      outermost_match && calls > 0 && parts.size() > calls ? parts.size() - calls : 0;
  std::size_t next = 0;
  std::vector<std::uintptr_t> path;
  path.reserve(native.size() + python.count);
  const auto put_next = [&] {
    if (next == parts.size()) return;
    for (std::size_t i = parts[next].begin; i < parts[next].end; ++i) {
      if (words[i] != 0) path.push_back(words[i]);
    }
    ++next;
  };
  for (const std::uintptr_t address : native) {
    if (runs_python(address)) {
      for (; extra > 0; --extra) put_next();
      if (spare > 0) {
        --spare;
      } else {
        put_next();
      }
    }
    path.push_back(address);
  }
  while (next < parts.size()) put_next();  // their calls are cut off
  return path;
}

AddressRange find_interpreter() {
  // Where it is shorter, instructions are functions that jump on to each other (CPython 3.14 can be
  // built so): then it is not known which code is the interpreter's.
  constexpr std::size_t kLeast = 8192;
  void* const code = ::dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  if (code == nullptr) return {};
  Dl_info about{};
  void* extra = nullptr;
  if (::dladdr1(code, &about, &extra, RTLD_DL_SYMENT) == 0) return {};
  const auto* const symbol = static_cast<const ElfW(Sym)*>(extra);
  if (symbol == nullptr || about.dli_saddr != code || symbol->st_size < kLeast) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(code);
  return {begin, begin + symbol->st_size};
}

}  // namespace headrace::profile
