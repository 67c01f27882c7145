#include "fabric/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace headrace::fabric {
namespace {

void futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* timeout) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout, nullptr, 0);
}

}  // namespace

void Bell::ring() {
  rings_.fetch_add(1, std::memory_order_seq_cst);
  futex(&rings_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Bell::doze(std::uint32_t seen, std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec time{nanoseconds / kSecond, nanoseconds % kSecond};
  futex(&rings_, FUTEX_WAIT, seen, &time);
}

}  // namespace headrace::fabric
