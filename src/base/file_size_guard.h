#pragma once

#include <csignal>

namespace headrace {

/// While an object lives, a write or truncation beyond RLIMIT_FSIZE fails with EFBIG: the thread
/// blocks SIGXFSZ, which would end the program, and consumes it. A signal that was pending before
/// stays pending. Shared memory counts as a file here. Keeps errno.
class FileSizeGuard {
 public:
  FileSizeGuard();
  ~FileSizeGuard();
  FileSizeGuard(const FileSizeGuard&) = delete;
  FileSizeGuard& operator=(const FileSizeGuard&) = delete;

 private:
  sigset_t signal_{};
  sigset_t previous_{};
  bool was_pending_ = false;
};

/// Whether this process has a limit on file sizes now. One system call; a guard takes four.
bool file_size_is_limited();

}  // namespace headrace
