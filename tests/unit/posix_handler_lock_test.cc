#include <gtest/gtest.h>

#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "posix/handler_lock.h"

/// A handler that comes at any instruction of a lock's functions, and jumps out for good.
namespace headrace::posix {
namespace {

#if defined(__x86_64__)

HandlerLock* disturbed = nullptr;
sigjmp_buf target;
volatile std::uintptr_t target_stack = 0;
volatile std::sig_atomic_t steps = 0;  ///< instructions until the handler jumps; 0: it does not
volatile std::sig_atomic_t jumps_within = 0;
volatile std::sig_atomic_t was_free = 0;

[[gnu::always_inline]] inline std::uintptr_t own_frame() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// From now on, or no longer, each instruction is a signal.
void step(bool is_on) {
  constexpr std::uint64_t kTrap = 0x100;
  const std::uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(is_on ? flags | kTrap : flags & ~kTrap);
}

[[gnu::noinline]] void use(HandlerLock& lock) {
  if (lock.take()) lock.give_back();
}

bool is_last_step() {
  if (steps == 0) return false;
  steps = steps - 1;
  return steps == 0;
}

void jump_at_last(int) {
  if (!is_last_step()) return;
  disturbed->leave_for(target_stack);
  siglongjmp(target, 1);
}

/// False: `use` has fewer instructions.
[[gnu::noinline]] bool use_to(int last) {
  if (sigsetjmp(target, 1) != 0) return true;
  target_stack = own_frame();
  steps = last;
  step(true);
  use(*disturbed);
  step(false);
  steps = 0;
  return false;
}

/// Ends the process if another thread does not get the lock: a thread that waits cannot be ended.
void expect_others_take(HandlerLock& lock, int last) {
  auto other = std::async(std::launch::async, [&] { use(lock); });
  if (other.wait_for(std::chrono::seconds(30)) == std::future_status::ready) return;
  std::fprintf(stderr, "The lock stays taken after a jump at instruction %d\n", last);
  std::_Exit(1);
}

class HandlerLockTest : public ::testing::Test {
 protected:
  void SetUp() override { disturbed = &lock_; }
  void TearDown() override { std::signal(SIGTRAP, SIG_DFL); }

  HandlerLock lock_;
};

TEST_F(HandlerLockTest, IsFreeAfterAJumpAtAnyInstruction) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has locks of its own, out of which the handler would jump";
#endif
  std::signal(SIGTRAP, &jump_at_last);
  int last = 0;
  do {
    if (last > 0) expect_others_take(lock_, last);
    // By a frame that the jump does not leave. It must not be taken for that of the next holder.
    ASSERT_TRUE(lock_.take());
    lock_.give_back();
  } while (use_to(++last));
  EXPECT_GT(last, 10);
}

/// From a frame below the caller's, as a handler has it.
[[gnu::noinline]] bool can_take(HandlerLock& lock) {
  return lock.take();
}

/// Uses the lock, and jumps within itself meanwhile.
void use_too(int) {
  if (!is_last_step()) return;
  sigjmp_buf here;
  if (sigsetjmp(here, 1) == 0) {
    disturbed->leave_for(own_frame());
    if (can_take(*disturbed)) {
      was_free = was_free + 1;
      disturbed->give_back();
    }
    siglongjmp(here, 1);
  }
  jumps_within = jumps_within + 1;
}

/// The handler finds it taken, or free, but never takes what the interrupted one believes to have.
TEST_F(HandlerLockTest, StaysTheInterruptedOnesAtAnyInstruction) {
  std::signal(SIGTRAP, &use_too);
  for (int last = 1; jumps_within == last - 1; ++last) {
    steps = last;
    step(true);
    const bool is_taken = lock_.take();
    step(false);
    steps = 0;
    ASSERT_TRUE(is_taken);
    EXPECT_FALSE(can_take(lock_));
    lock_.give_back();
  }
  EXPECT_GT(jumps_within, 10);
  EXPECT_GT(was_free, 0);
}

#endif

}  // namespace
}  // namespace headrace::posix
