#include "base/file_size_guard.h"

#include <sys/resource.h>

#include <cerrno>
#include <ctime>

#include "base/kept_errno.h"

namespace headrace {

FileSizeGuard::FileSizeGuard() {
  sigemptyset(&signal_);
  sigaddset(&signal_, SIGXFSZ);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &previous_);
}

FileSizeGuard::~FileSizeGuard() {
  const KeptErrno kept;
  if (!was_pending_) {
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

bool file_size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace headrace
