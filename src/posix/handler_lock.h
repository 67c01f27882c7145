#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace headrace::posix {

/// A lock for what signal handlers use, too: a handler that has interrupted the holder is told so,
/// and does not wait for it. Takes no memory.
class HandlerLock {
 public:
  /// True if it is taken. False: this thread has it already, and a handler runs now.
  bool take() noexcept {
    const auto self = static_cast<std::uintptr_t>(::pthread_self());
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t none = 0;
    for (unsigned i = 0; !holder_.compare_exchange_strong(none, self); ++i, none = 0) {
      if (none == self) return was_left(frame) && (frame_ = frame, true);
      if (i > kSpins) ::sched_yield();
    }
    frame_ = frame;
    return true;
  }
  void give_back() noexcept {
    frame_ = kNoFrame;  // a handler may come before the next holder has written down its own
    holder_.store(0);
  }

  /// A handler of this thread jumps (siglongjmp) to where the stack ends at `target`. Gives the
  /// lock back if that leaves the holder's frame for good, so that other threads need not wait.
  void leave_for(std::uintptr_t target) noexcept {
    if (holder_.load() != static_cast<std::uintptr_t>(::pthread_self()) || target <= frame_) return;
    stack_t stack{};
    if (::sigaltstack(nullptr, &stack) != 0) return;
    const auto own = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
    const bool stays = (stack.ss_flags & SS_ONSTACK) != 0 && target - own <= stack.ss_size;
    if (!stays) give_back();
  }

 private:
  static constexpr unsigned kSpins = 200;
  static constexpr std::uintptr_t kNoFrame = UINTPTR_MAX;

  /// Whether a handler has left the holder's frame for good (siglongjmp). A handler's frames lie
  /// deeper, but for those on a stack of their own, which are taken for one that interrupts.
  bool was_left(std::uintptr_t frame) const noexcept {
    if (frame < frame_) return false;
    stack_t stack{};
    return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
  }

  std::atomic<std::uintptr_t> holder_ = 0;
  std::uintptr_t frame_ = kNoFrame;
};

}  // namespace headrace::posix
