#pragma once

#include <csignal>

namespace headrace {

/// All signals that can be are blocked in this thread while it lives, but those that a thread
/// causes itself (SIGSEGV, SIGBUS, ...): threads that it makes inherit that.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();  ///< keeps errno
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t previous_{};
};

}  // namespace headrace
