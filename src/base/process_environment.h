#pragma once

#include <unistd.h>

namespace headrace {

/// The process's environment, as getenv() and setenv() have it: ends with a null pointer, is never
/// one itself.
///
/// `environ` may be a variable of the program's own that nobody sets: a program can define that
/// name, or be linked so that it has a copy of this name alone. libc itself uses `__environ`.
inline const char* const* process_environment() {
  static constexpr const char* kNone[] = {nullptr};
  return __environ != nullptr ? __environ : kNone;
}

}  // namespace headrace
