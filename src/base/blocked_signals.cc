#include "base/blocked_signals.h"

#include <initializer_list>

namespace headrace {

BlockedSignals::BlockedSignals() {
  sigset_t most;
  sigfillset(&most);
  // If a thread blocks a signal that it causes itself, the kernel ends the process instead of
  // calling the program's handler. Such a handler may make the memory accessible and go on.
  for (const int caused : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigdelset(&most, caused);
  }
  pthread_sigmask(SIG_SETMASK, &most, &previous_);
}

// pthread_sigmask returns its error and leaves errno alone.
BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace headrace
