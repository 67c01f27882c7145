#pragma once

#include <cerrno>

namespace headrace {

/// Makes a system call again for as long as signals interrupt it: EINTR, with -1. A program's
/// timer interrupts open, too, where a server answers slowly.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace headrace
