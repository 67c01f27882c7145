#include "fabric/event.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace headrace::fabric {
namespace {

/// futex(2) on waiters that sleep under one of `bits`.
long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* timeout, std::uint32_t bits) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout,
                 nullptr, bits);
}

/// A standby sleeper sleeps under its core's bit, all others under this bit, which no core has.
constexpr int kOther = 31;

std::uint32_t bit_of_core() {
  const int core = sched_getcpu();
  return 1U << (core < 0 ? 0 : core % kOther);
}

/// The end of a sleep that begins now: FUTEX_WAIT_BITSET takes a point in time, not a duration.
timespec deadline_after(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  nanoseconds += time.tv_nsec;
  return {time.tv_sec + nanoseconds / kSecond, nanoseconds % kSecond};
}

}  // namespace

void Event::wake() {
  futex(&count_, FUTEX_WAKE_BITSET, INT_MAX, nullptr, FUTEX_BITSET_MATCH_ANY);
}

bool Event::signal_standby() {
  count_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return false;
  const std::uint32_t elsewhere = ~(bit_of_core() | 1U << kOther);
  return futex(&count_, FUTEX_WAKE_BITSET, 1, nullptr, elsewhere) > 0;
}

void Event::sleep(std::uint32_t seen, std::int64_t nanoseconds, Sleeper sleeper) {
  const timespec end = deadline_after(nanoseconds);
  const std::uint32_t bit = sleeper == Sleeper::standby ? bit_of_core() : 1U << kOther;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  futex(&count_, FUTEX_WAIT_BITSET, seen, &end, bit);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace headrace::fabric
