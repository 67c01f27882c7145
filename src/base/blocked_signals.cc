#include "base/blocked_signals.h"

#include <initializer_list>

namespace headrace {

BlockedSignals::BlockedSignals() {
  sigset_t most;
  sigfillset(&most);
  // The kernel ends a process whose thread blocks what the thread itself causes, instead of calling
  // the program's handler: one may make memory accessible when it is touched, and then goes on.
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
