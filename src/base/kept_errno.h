#pragma once

#include <cerrno>

namespace headrace {

/// Restores errno at the end of the scope.
class KeptErrno {
 public:
  KeptErrno() = default;
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = kept_; }

 private:
  int kept_ = errno;
};

}  // namespace headrace
