#pragma once

namespace headrace::fabric {

class Messenger;

/// How a thread waits: `spins` looks before it sleeps (0 where ranks outnumber cores), and whose
/// messages to keep moving while it does. A helper thread has no messages to move: below
/// MPI_THREAD_MULTIPLE it must not call MPI. It takes no core from the program by spinning either,
/// so `Waiter{}` is its way to wait.
struct Waiter {
  Messenger* messenger = nullptr;
  int spins = 0;
};

}  // namespace headrace::fabric
