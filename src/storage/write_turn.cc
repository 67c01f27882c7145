#include "storage/write_turn.h"

#include "base/pause.h"

namespace headrace::storage {
namespace {

/// The time of several writes of 1 MiB. A rank that waits longer waits for a device, and may as
/// well sleep in the kernel.
constexpr std::chrono::milliseconds kLongestWait{1};

/// With more waiting ranks, the state's cache line would move between them too often.
constexpr std::uint32_t kMaxWaiting = 3;

/// Spins for about a microsecond, in which a waiting rank has seen that no rank writes.
constexpr int kSpins = 64;

}  // namespace

bool WriteTurn::take_free() const {
  std::uint32_t nobody = 0;
  return state_->holder.load(std::memory_order_relaxed) == 0 &&
         state_->holder.compare_exchange_strong(nobody, self_, std::memory_order_acquire);
}

WriteTurn::Turn WriteTurn::take() const {
  // A rank that has just written lets a waiting rank go first, which it could otherwise overtake
  // for ever.
  const auto is_others_turn = [this] {
    return state_->last.load(std::memory_order_relaxed) == self_ &&
           state_->waiting.load(std::memory_order_relaxed) > 0 &&
           state_->holder.load(std::memory_order_relaxed) == 0;
  };
  for (int spin = 0; spin < kSpins && is_others_turn(); ++spin) pause_spinning();
  const Turn turn = take_free() ? Turn::taken : wait();
  if (turn != Turn::none) state_->last.store(self_, std::memory_order_relaxed);
  return turn;
}

bool WriteTurn::take_within(Clock::duration longest) const {
  const Clock::time_point end = Clock::now() + longest;
  do {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (take_free()) return true;
      pause_spinning();
    }
  } while (Clock::now() < end);
  return false;
}

WriteTurn::Turn WriteTurn::wait() const {
  const bool may_wait = state_->waiting.fetch_add(1, std::memory_order_relaxed) < kMaxWaiting;
  const bool was_given_up = may_wait && take_within(kLongestWait);
  if (may_wait && !was_given_up) {
    // Perhaps the holder has died. If not, both write, and the kernel keeps them apart.
    state_->holder.store(self_, std::memory_order_relaxed);
  }
  state_->waiting.fetch_sub(1, std::memory_order_relaxed);
  if (!may_wait) return Turn::none;
  return was_given_up ? Turn::waited_for : Turn::taken;
}

void WriteTurn::give_up() const {
  std::uint32_t self = self_;
  state_->holder.compare_exchange_strong(self, 0, std::memory_order_release);
}

}  // namespace headrace::storage
