#include "base/secret.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

namespace headrace {

Error draw_random(std::span<std::byte> bytes) {
  assert(bytes.size() <= 256);  // getrandom() gives no more in one call
  if (getrandom(bytes.data(), bytes.size(), 0) == std::ssize(bytes)) return {};
  // A filter of system calls (seccomp) may forbid getrandom().
  const int descriptor = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const ssize_t drawn = descriptor < 0 ? -1 : ::read(descriptor, bytes.data(), bytes.size());
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (drawn == std::ssize(bytes)) return {};
  return system_failure(why, "cannot draw a random number");
}

Result<Secret> draw_secret() {
  Secret secret;
  if (Error failed = draw_random(secret)) return failed;
  return secret;
}

bool is_same(const Secret& a, const Secret& b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  // Read back from memory, so that the compiler cannot leave the loop early.
  const volatile std::byte seen = difference;
  return seen == std::byte{};
}

}  // namespace headrace
