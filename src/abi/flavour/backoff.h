#pragma once

namespace headrace::HEADRACE_FLAVOUR {

/// How a thread waits for something that only MPI can tell it. First it only yields the core, since
/// the peer is often the next to run there; then it sleeps, longer each time.
class Backoff {
 public:
  void wait();

 private:
  int waits_ = 0;
  long sleep_ = 0;  ///< nanoseconds
};

}  // namespace headrace::HEADRACE_FLAVOUR
