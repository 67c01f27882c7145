#pragma once

#include <cerrno>

namespace headrace {

/// Repeats a system call while signals interrupt it (-1 with EINTR). A program's timer may even
/// interrupt open(), if a server answers slowly.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace headrace
