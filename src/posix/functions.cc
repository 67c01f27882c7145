#include "posix/functions.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace headrace::posix {

constinit Functions real{};

namespace {

constexpr std::size_t kCount = 0
#define HEADRACE_ONE(name) +1
    HEADRACE_IO_FUNCTIONS(HEADRACE_ONE)
#undef HEADRACE_ONE
    ;

template <class Type>
Function look_up(const char* name, Type*& into, Type* stand_in) {
  void* const found = ::dlsym(RTLD_DEFAULT, name);
  into = reinterpret_cast<Type*>(found);
  return {name, found, reinterpret_cast<void*>(stand_in)};
}

std::array<Function, kCount> look_all_up() {
  return {{
#define HEADRACE_LOOK_UP(name) look_up(#name, real.name, &counted::name),
      HEADRACE_IO_FUNCTIONS(HEADRACE_LOOK_UP)
#undef HEADRACE_LOOK_UP
  }};
}

const void* object_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) == 0 ? nullptr : info.dli_fbase;
}

}  // namespace

std::span<const Function> functions() {
  static const auto all = look_all_up();
  return all;
}

bool has_tools() {
  static const bool found = [] {
    const void* const library = object_of(reinterpret_cast<const void*>(&::getenv));
    for (const Function& one : functions()) {
      if (std::strncmp(one.name, "io_uring", 8) == 0) continue;
      if (one.found != nullptr && object_of(one.found) != library) return true;
    }
    return false;
  }();
  return found;
}

}  // namespace headrace::posix
