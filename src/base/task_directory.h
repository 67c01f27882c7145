#pragma once

#include <sys/types.h>

#include <vector>

#include "base/held_descriptor.h"

namespace headrace {

/// The threads of the process. Its descriptor has a high number and is kept, so that looking takes
/// none of the low numbers, which programs expect open() to return.
class TaskDirectory {
 public:
  /// All that there are now; empty where the directory cannot be read.
  std::vector<pid_t> list();

 private:
  HeldDescriptor directory_;
};

}  // namespace headrace
