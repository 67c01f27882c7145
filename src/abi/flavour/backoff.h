#pragma once

namespace headrace::HEADRACE_FLAVOUR {

/// How a thread waits for what only MPI can tell it. It waits longer the longer it has waited:
/// first it only gives up the core, since the peer is often next to run on it, then it sleeps.
class Backoff {
 public:
  void wait();

 private:
  int waits_ = 0;
  long sleep_ = 0;  ///< nanoseconds
};

}  // namespace headrace::HEADRACE_FLAVOUR
