#pragma once

#include <csignal>

namespace headrace {

/// While it lives, a write or truncation over RLIMIT_FSIZE fails with EFBIG: the signal SIGXFSZ,
/// which would end the program, is blocked in this thread and taken. One that was pending before
/// stays. Shared memory counts as files here. Keeps errno.
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

/// Whether this process has such a limit now. Cheaper than a guard: one system call instead of
/// four.
bool file_size_is_limited();

}  // namespace headrace
