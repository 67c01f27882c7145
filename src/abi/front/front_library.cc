#include "abi/front/front_library.h"

#include <dlfcn.h>

#include <vector>

#include "abi/generated/entry.h"

namespace headrace::abi {
namespace {

/// The full names of the library's procedures that we do not export.
std::vector<std::string> caught_names(const Library& library) {
  std::vector<std::string> names;
  for (int i = kExportedCount; i < kEntryCount; ++i) {
    for (const char* const symbol : entry_symbols[i]) {
      if (::dlsym(library.handle, symbol) != nullptr) names.emplace_back(symbol);
    }
  }
  return names;
}

}  // namespace

bool is_front_library(const ElfObject& object) {
  return object.is_library() && object.defines("headrace_front");
}

bool is_front_library_loaded() {
  bool found = false;
  for_each_object([&](const ElfObject& object) { found = found || is_front_library(object); });
  return found;
}

bool is_in_front_library(const void* address) {
  bool found = false;
  for_each_object([&](const ElfObject& object) {
    if (object.contains(reinterpret_cast<std::uintptr_t>(address))) {
      found = is_front_library(object);
    }
  });
  return found;
}

std::string front_library_problem(const Library& library) {
  if (!is_front_library_loaded()) return "";
  const std::vector<std::string> names = caught_names(library);
  std::string problem;
  for_each_object([&](const ElfObject& object) {
    if (!problem.empty() || !is_front_library(object)) return;
    for (const std::string& name : names) {
      if (object.defines(name)) continue;
      problem = std::string(object.path()) + " was made for another MPI library or by another " +
                "headrace, since it has no " + name +
                ": make it again with headrace preload --front " + library.path;
      return;
    }
  });
  return problem;
}

}  // namespace headrace::abi
