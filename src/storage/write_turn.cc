#include "storage/write_turn.h"

#include <chrono>

namespace headrace::storage {
namespace {

using Clock = std::chrono::steady_clock;

/// Several writes of 1 MiB. Who waits longer waits for a device, and may as well do so asleep.
constexpr Clock::duration kLongestWait = std::chrono::milliseconds(1);

/// More ranks than these would pass the state's cache line around among themselves.
constexpr std::uint32_t kMostWaiting = 3;

/// About a microsecond: until a rank that waits has seen that nobody writes.
constexpr int kCourtesy = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool WriteTurn::take_free() const {
  std::uint32_t nobody = 0;
  return state_->holder.load(std::memory_order_relaxed) == 0 &&
         state_->holder.compare_exchange_strong(nobody, self_, std::memory_order_acquire);
}

bool WriteTurn::take() const {
  // Who has just written lets a rank that waits come first: it may be about to be overtaken for
  // ever.
  const auto is_others_turn = [this] {
    return state_->last.load(std::memory_order_relaxed) == self_ &&
           state_->waiting.load(std::memory_order_relaxed) > 0 &&
           state_->holder.load(std::memory_order_relaxed) == 0;
  };
  for (int look = 0; look < kCourtesy && is_others_turn(); ++look) pause();
  if (!take_free() && !wait()) return false;
  state_->last.store(self_, std::memory_order_relaxed);
  return true;
}

bool WriteTurn::wait() const {
  const bool may_wait = state_->waiting.fetch_add(1, std::memory_order_relaxed) < kMostWaiting;
  bool has_turn = false;
  if (may_wait) {
    const Clock::time_point end = Clock::now() + kLongestWait;
    do {
      for (int look = 0; look < kCourtesy && !has_turn; ++look) {
        has_turn = take_free();
        if (!has_turn) pause();
      }
    } while (!has_turn && Clock::now() < end);
    // Perhaps its holder is no more. Else both write, and the kernel keeps them apart.
    if (!has_turn) state_->holder.store(self_, std::memory_order_relaxed);
    has_turn = true;
  }
  state_->waiting.fetch_sub(1, std::memory_order_relaxed);
  return has_turn;
}

void WriteTurn::give_up() const {
  std::uint32_t self = self_;
  state_->holder.compare_exchange_strong(self, 0, std::memory_order_release);
}

}  // namespace headrace::storage
