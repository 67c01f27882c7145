#include "base/signal_guard.h"

#include <cerrno>
#include <ctime>

#include "base/kept_errno.h"

namespace headrace {

SignalGuard::SignalGuard(int signal) {
  sigemptyset(&signal_);
  sigaddset(&signal_, signal);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, signal) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &previous_);
}

SignalGuard::~SignalGuard() {
  const KeptErrno kept;
  if (!was_pending_) {
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace headrace
