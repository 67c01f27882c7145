#include "posix/stand_ins.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace headrace::posix {

constinit Functions real{};

namespace {

constexpr std::size_t kCount = 0
#define HEADRACE_ONE(name) +1
    HEADRACE_IO_FUNCTIONS(HEADRACE_ONE)
#undef HEADRACE_ONE
    ;

/// A library that is loaded already; null if it is not.
void* loaded_library(const char* name) {
  return ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

/// Where the functions are: the C library, what old ones keep apart, and liburing.
std::span<void* const> libraries() {
  static void* const all[] = {loaded_library("libpthread.so.0"), loaded_library("librt.so.1"),
                              loaded_library("libc.so.6"), loaded_library("liburing.so.2"),
                              loaded_library("liburing.so.1")};
  return all;
}

/// Each library's own, and that of what it needs. Different ones.
std::array<void*, 2> natives(const char* name) {
  std::array<void*, 2> found{};
  for (void* const library : libraries()) {
    void* const one = library == nullptr ? nullptr : ::dlsym(library, name);
    if (one == nullptr || one == found[0]) continue;
    if (found[0] == nullptr) {
      found[0] = one;
    } else if (found[1] == nullptr) {
      found[1] = one;
    }
  }
  return found;
}

/// What the program's scope shows, if that is a tool's.
void* tool_of(const char* name, const std::array<void*, 2>& native) {
  void* const visible = ::dlsym(RTLD_DEFAULT, name);
  if (visible == nullptr || visible == native[0] || visible == native[1]) return nullptr;
  Dl_info info{};
  if (::dladdr(visible, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return is_tool(info.dli_fname) ? visible : nullptr;
}

template <class Type>
Function look_up(const char* name, Purpose purpose, Type*& into, Type* stand_in) {
  const auto native = natives(name);
  void* const tool = native[0] == nullptr ? nullptr : tool_of(name, native);
  into = reinterpret_cast<Type*>(tool != nullptr ? tool : native[0]);
  return {native, tool, name, reinterpret_cast<void*>(stand_in), purpose};
}

std::array<Function, kCount> look_all_up() {
  return {{
#define HEADRACE_LOOK_UP(name, purpose) look_up(#name, Purpose::purpose, real.name, &counted::name),
#define HEADRACE_FOR_BOTH(name) HEADRACE_LOOK_UP(name, both)
#define HEADRACE_FOR_COUNTS(name) HEADRACE_LOOK_UP(name, counts)
#define HEADRACE_FOR_BUFFERS(name) HEADRACE_LOOK_UP(name, buffers)
      HEADRACE_DESCRIPTOR_FUNCTIONS(HEADRACE_FOR_BOTH) HEADRACE_CHILD_FUNCTIONS(HEADRACE_FOR_BOTH)
          HEADRACE_COUNTED_FUNCTIONS(HEADRACE_FOR_COUNTS)
              HEADRACE_BUFFER_FUNCTIONS(HEADRACE_FOR_BUFFERS)
#undef HEADRACE_FOR_BUFFERS
#undef HEADRACE_FOR_COUNTS
#undef HEADRACE_FOR_BOTH
#undef HEADRACE_LOOK_UP
  }};
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void* stand_in_for_cpp(const Function& function) {
  const std::string_view name = function.name;
  if (name == "fopen") return reinterpret_cast<void*>(&counted::fopen_for_cpp);
  if (name == "fopen64") return reinterpret_cast<void*>(&counted::fopen64_for_cpp);
  return function.stand_in;
}

std::span<const Function> functions() {
  static const auto all = look_all_up();
  return all;
}

bool is_tool(std::string_view path) {
  if (path.empty()) return false;
  if (file_of(path).starts_with("libdarshan")) return true;
  const char* const preloaded = std::getenv("LD_PRELOAD");
  std::string_view rest = preloaded == nullptr ? "" : preloaded;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    const std::string_view one = rest.substr(0, end);
    if (!one.empty() && file_of(one) == file_of(path)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace headrace::posix
