#include "base/file_size_guard.h"

#include <sys/resource.h>

namespace headrace {

bool file_size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace headrace
