#pragma once

#include <sys/stat.h>
#include <sys/statfs.h>

#include "posix/file_claim.h"

namespace headrace::posix {

/// What is known of a file that the program has opened.
struct OpenFacts {
  int flags = 0;  ///< of open(2)
  mode_t mode = 0;
  long file_system = 0;  ///< its number in statfs(2)
  Sharing sharing = Sharing::none;
};

/// Why calls on a descriptor get no buffer; null: they may get one.
struct Obstacle {
  const char* why = nullptr;
  const char* remedy = nullptr;
  bool is_silent = false;  ///< it is no file that anybody means
  explicit operator bool() const { return why != nullptr; }
};

Obstacle obstacle_of(const OpenFacts& facts);

}  // namespace headrace::posix
