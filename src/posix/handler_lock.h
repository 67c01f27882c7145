#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace headrace::posix {

/// A lock for what signal handlers use, too: a handler that has interrupted the holder is told so,
/// and does not wait for it. Takes no memory.
class HandlerLock {
 public:
  enum class Taken {
    yes,
    interrupting,  ///< this thread has it already, and a handler runs now
    no             ///< another thread did not give it back in time
  };

  /// True if it is taken. False: this thread has it already, and a handler runs now.
  bool take() noexcept { return take(nullptr) == Taken::yes; }

  /// Waits for other threads as often as `naps` says, about 0.1 ms each, and counts it down. Null:
  /// for as long as it takes.
  Taken take(unsigned* naps) noexcept {
    const Holder self{static_cast<std::uintptr_t>(::pthread_self()),
                      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    for (unsigned i = 0;; ++i) {
      const Holder now{thread_.load(), frame_.load(std::memory_order_relaxed)};
      if (now.thread == self.thread && !was_left(now.frame, self.frame)) return Taken::interrupting;
      if (now.thread == 0 || now.thread == self.thread) {
        if (replace(now, self)) return Taken::yes;
      } else if (i > kSpins) {
        if (naps == nullptr) {
          wait_long(i);
        } else if (*naps == 0) {
          return Taken::no;
        } else {
          *naps -= 1;
          nap(kNap);
        }
      }
    }
  }
  void give_back() noexcept { thread_.store(0, std::memory_order_release); }

  /// A handler of this thread jumps (siglongjmp) to where the stack ends at `target`. Gives the
  /// lock back if that leaves the holder's frame for good, so that other threads need not wait.
  void leave_for(std::uintptr_t target) noexcept {
    if (thread_.load() != static_cast<std::uintptr_t>(::pthread_self()) || target <= frame_) return;
    stack_t stack{};
    if (::sigaltstack(nullptr, &stack) != 0) return;
    const auto own = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
    const bool stays = (stack.ss_flags & SS_ONSTACK) != 0 && target - own <= stack.ss_size;
    if (!stays) give_back();
  }

 private:
  struct Holder {
    std::uintptr_t thread;
    std::uintptr_t frame;
  };
  __extension__ typedef unsigned __int128 Word;

  static constexpr unsigned kSpins = 200;
  static constexpr unsigned kYields = 500;
  static constexpr long kNap = 100'000;  ///< ns
  static constexpr long kFirstNap = 10'000;
  static constexpr long kLongestNap = 1'000'000;

  /// Whether a handler has left the holder's frame for good (siglongjmp), where leave_for() is not
  /// told so. A handler's frames lie deeper, but for those on a stack of their own, which are taken
  /// for one that interrupts. Not all such stacks can be known (SS_AUTODISARM), so where jumps are
  /// seen, nothing is concluded from frames.
  static bool was_left(std::uintptr_t held, std::uintptr_t frame) noexcept {
#if defined(__x86_64__)
    static_cast<void>(held);
    static_cast<void>(frame);
    return false;
#else
    if (frame < held) return false;
    stack_t stack{};
    return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
#endif
  }

  /// The holder may be in a write that takes the server some time.
  static void wait_long(unsigned tries) noexcept {
    if (tries < kYields) {
      ::sched_yield();
    } else {
      nap(std::min<long>((tries - kYields + 1) * kFirstNap, kLongestNap));
    }
  }

  /// By the kernel itself: nanosleep() may be cancelled.
  static void nap(long nanoseconds) noexcept {
    const timespec time{0, nanoseconds};
    ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr);
  }

  /// In one instruction: a handler that comes at any moment, and jumps, finds the holder's frame.
  bool replace(const Holder& from, const Holder& to) noexcept {
    return __sync_bool_compare_and_swap(reinterpret_cast<Word*>(this), std::bit_cast<Word>(from),
                                        std::bit_cast<Word>(to));
  }

  alignas(16) std::atomic<std::uintptr_t> thread_ = 0;  ///< 0: nobody has it
  std::atomic<std::uintptr_t> frame_ = 0;               ///< of the last one who took it
};

}  // namespace headrace::posix
