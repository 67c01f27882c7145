#pragma once

#include <csignal>

namespace headrace {

/// While an object lives, its thread blocks a signal that the kernel sends a thread for its own
/// call (SIGXFSZ, SIGPIPE), so that the call fails instead, and consumes it. One that was pending
/// before stays pending. Keeps errno.
class SignalGuard {
 public:
  explicit SignalGuard(int signal);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t signal_{};
  sigset_t previous_{};
  bool was_pending_ = false;
};

}  // namespace headrace
