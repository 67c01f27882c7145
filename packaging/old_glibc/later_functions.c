/// What the C++ library of GCC 12, as built with a later glibc, takes from it, and glibc 2.28
/// lacks. tools/devtool/old_glibc.py adds this to the part of the C library that is linked
/// statically, so each function goes only into what asks for it. The linker says if something is
/// missing here.

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/// Since glibc 2.32: whether the process certainly has one thread. The C++ library then counts
/// references by plain instead of atomic operations. "No" is always right.
char __libc_single_threaded = 0;

/// Since glibc 2.36: a random number, for std::random_device. getrandom fails only if a signal
/// comes, or the kernel has no such call (before Linux 3.17).
uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
    if (errno != EINTR) abort();
  }
  return number;
}
