#pragma once

#include "base/signal_guard.h"

namespace headrace {

/// While an object lives, a write or truncation beyond RLIMIT_FSIZE fails with EFBIG instead of
/// ending the program. Shared memory counts as a file here.
class FileSizeGuard {
 public:
  FileSizeGuard() : guard_(SIGXFSZ) {}

 private:
  SignalGuard guard_;
};

/// Whether this process has a limit on file sizes now. One system call; a guard takes four.
bool file_size_is_limited();

}  // namespace headrace
