#include "profile/own_descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace headrace::profile {

void use_own_descriptors() {
#ifdef SYS_close_range
  constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, kUnshare) != 0) return;
  ::syscall(SYS_close_range, STDIN_FILENO, STDOUT_FILENO, 0U);
#endif
}

}  // namespace headrace::profile
