#pragma once

#include <cerrno>

namespace headrace {

/// Gives errno back the value that it has now, at the end of the scope.
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
