#include "overlap/slow_store.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>

namespace headrace::bench::overlap {
namespace {

std::atomic<double> seconds_per_byte = 0;
std::atomic<std::int64_t> delayed = 0;

/// Sleeps as long as `moved` bytes take; errors and errno pass through.
ssize_t after_delay(ssize_t moved) {
  const double seconds = static_cast<double>(moved) * seconds_per_byte;
  if (moved <= 0 || seconds <= 0) return moved;
  const int before = errno;
  double whole = 0;
  const double rest = std::modf(seconds, &whole);
  timespec left{static_cast<time_t>(whole), static_cast<long>(rest * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
  errno = before;
  delayed += moved;
  return moved;
}

}  // namespace

void slow_down(double per_byte) {
  seconds_per_byte = per_byte;
}

std::int64_t delayed_bytes() {
  return delayed;
}

}  // namespace headrace::bench::overlap

using headrace::bench::overlap::after_delay;

// libc's names, plain and with large offsets, which are the same function on 64 bits.
#pragma GCC visibility push(default)
extern "C" {

ssize_t pread(int file, void* data, size_t size, off_t offset) {
  return after_delay(syscall(SYS_pread64, file, data, size, offset));
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  return after_delay(syscall(SYS_pwrite64, file, data, size, offset));
}

// The kernel takes the offset in two words; on 64 bits the lower one holds all of it.
ssize_t preadv(int file, const iovec* pieces, int count, off_t offset) {
  return after_delay(syscall(SYS_preadv, file, pieces, count, offset, 0));
}

ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
  return after_delay(syscall(SYS_pwritev, file, pieces, count, offset, 0));
}

ssize_t pread64(int file, void* data, size_t size, off64_t offset) {
  return pread(file, data, size, offset);
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  return pwrite(file, data, size, offset);
}

ssize_t preadv64(int file, const iovec* pieces, int count, off64_t offset) {
  return preadv(file, pieces, count, offset);
}

ssize_t pwritev64(int file, const iovec* pieces, int count, off64_t offset) {
  return pwritev(file, pieces, count, offset);
}

}  // extern "C"
#pragma GCC visibility pop
