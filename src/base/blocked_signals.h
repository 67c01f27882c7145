#pragma once

#include <cstdint>

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
  /// The kernel's set. The C library's takes 16 times as much, of a handler's stack, too.
  std::uint64_t previous_ = 0;
};

}  // namespace headrace
