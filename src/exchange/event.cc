#include "exchange/event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace headrace::exchange {
namespace {

long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout,
                 nullptr, 0);
}

}  // namespace

void Event::wake() {
  futex(&count_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Event::sleep(std::uint32_t seen, std::int64_t nanoseconds) {
  const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  futex(&count_, FUTEX_WAIT, seen, &timeout);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace headrace::exchange
