#pragma once

#include <csignal>

namespace headrace {

/// While an object lives, its thread blocks every signal but those that a thread causes itself
/// (SIGSEGV, SIGBUS, ...). Threads made meanwhile inherit that.
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
