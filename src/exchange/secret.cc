#include "exchange/secret.h"

#include <sys/random.h>

#include <cerrno>

namespace headrace::exchange {

Error draw_random(std::span<std::byte> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0) == std::ssize(bytes)) return {};
  return system_failure(errno, "cannot draw a random number");
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

}  // namespace headrace::exchange
