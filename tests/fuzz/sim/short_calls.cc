#include "fuzz/sim/short_calls.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "sim/random.h"

namespace headrace::fuzz {
namespace {

std::atomic<bool> is_cutting = false;
std::atomic<std::uint64_t> seed_now = 0;
std::atomic<std::int64_t> calls = 0;

/// What becomes of a call that is to move `len` bytes: how many it may, or -1 for EINTR.
ssize_t allowed(std::size_t len) {
  const auto all = static_cast<ssize_t>(len);
  if (!is_cutting.load(std::memory_order_relaxed) || len == 0) return all;
  const std::int64_t call = calls.fetch_add(1, std::memory_order_relaxed);
  const int dice = sim::random_byte(seed_now, 2 * call);
  if (dice < 32) {
    errno = EINTR;
    return -1;
  }
  if (dice < 128) return 1 + sim::random_byte(seed_now, 2 * call + 1) * (all - 1) / 256;
  return all;
}

/// A call with one piece of memory.
template <class Call>
ssize_t cut(std::size_t len, Call call) {
  const ssize_t most = allowed(len);
  return most < 0 ? most : call(static_cast<std::size_t>(most));
}

/// A call with several.
template <class Call>
ssize_t cut(const iovec* list, int count, Call call) {
  std::vector<iovec> pieces(list, list + count);
  std::size_t len = 0;
  for (const iovec& piece : pieces) len += piece.iov_len;
  ssize_t most = allowed(len);
  if (most < 0) return most;
  for (iovec& piece : pieces) {
    piece.iov_len = std::min(piece.iov_len, static_cast<std::size_t>(most));
    most -= static_cast<ssize_t>(piece.iov_len);
  }
  return call(pieces.data());
}

}  // namespace

void cut_calls_short(std::uint64_t seed) {
  seed_now = seed;
  calls = 0;
  is_cutting = true;
}

void let_calls_through() {
  is_cutting = false;
}

}  // namespace headrace::fuzz

// The names that storage is compiled to, with offsets of 64 bits.
extern "C" {

ssize_t __real_pread64(int, void*, std::size_t, off64_t);
ssize_t __real_pwrite64(int, const void*, std::size_t, off64_t);
ssize_t __real_preadv64(int, const iovec*, int, off64_t);
ssize_t __real_pwritev64(int, const iovec*, int, off64_t);

ssize_t __wrap_pread64(int descriptor, void* to, std::size_t len, off64_t at) {
  return headrace::fuzz::cut(
      len, [&](std::size_t most) { return __real_pread64(descriptor, to, most, at); });
}

ssize_t __wrap_pwrite64(int descriptor, const void* from, std::size_t len, off64_t at) {
  return headrace::fuzz::cut(
      len, [&](std::size_t most) { return __real_pwrite64(descriptor, from, most, at); });
}

ssize_t __wrap_preadv64(int descriptor, const iovec* list, int count, off64_t at) {
  return headrace::fuzz::cut(list, count, [&](const iovec* pieces) {
    return __real_preadv64(descriptor, pieces, count, at);
  });
}

ssize_t __wrap_pwritev64(int descriptor, const iovec* list, int count, off64_t at) {
  return headrace::fuzz::cut(list, count, [&](const iovec* pieces) {
    return __real_pwritev64(descriptor, pieces, count, at);
  });
}

}  // extern "C"
