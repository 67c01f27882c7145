#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <memory>
#include <thread>
#include <vector>

#include "record/call_path.h"
#include "unit/path_recorder.h"

namespace headrace::record {
namespace {

TEST(CallStacks, BelongToTheirThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      Recorder recorder({.depth = 30});
      for (unsigned way = 0; way < 2000; ++way) branch(recorder, way % 64, 6);
      EXPECT_EQ(recorder.ids.size(), 64U);
      EXPECT_EQ(recorder.paths.counts().unwinds, 64U);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

[[gnu::noipa]] void throws_at(Recorder& recorder, int deeper) {
  mpi_call(recorder);
  if (deeper == 0) throw 1;
  throws_at(recorder, deeper - 1);
  keep(&recorder);
}

TEST(CallStacks, StayRightAfterExceptionsAndJumps) {
  Recorder recorder;
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW(throws_at(recorder, 10), int);
    std::jmp_buf place;
    if (setjmp(place) == 0) {
      second(recorder);
      std::longjmp(place, 1);
    }
    first(recorder);
  }
  EXPECT_LE(recorder.paths.counts().unwinds, 20U);
}

[[gnu::noipa]] PathEnd& tail_call(Recorder& recorder) {
  return mpi_call(recorder);
}

TEST(CallStacks, OfTailCallsAreThoseOnTheStack) {
  Recorder recorder;
  for (int i = 0; i < 100; ++i) {
    tail_call(recorder);
    first(recorder);
  }
}

Recorder* handlers = nullptr;
void on_signal(int) {
  mpi_call(*handlers);
  keep(handlers);
}

// The thread sanitizer calls handlers itself, later.
#if defined(__SANITIZE_THREAD__)
constexpr bool kIsSignalDirect = false;
#else
constexpr bool kIsSignalDirect = true;
#endif

/// Of a handler only its own frames are a path, and of these the first on a stack of its own.
void signal_path(bool has_stack) {
  Recorder recorder;
  recorder.is_compared = false;
  handlers = &recorder;
  std::vector<char> memory(1 << 16);
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  stack_t old{};
  if (has_stack) {
    ASSERT_EQ(::sigaltstack(&stack, &old), 0);
  }
  struct sigaction action{};
  action.sa_handler = &on_signal;
  action.sa_flags = has_stack ? SA_ONSTACK : 0;
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  for (int i = 0; i < 100; ++i) {
    first(recorder);
    ASSERT_EQ(::raise(SIGUSR1), 0);
    if (kIsSignalDirect) {
      EXPECT_EQ(recorder.store.chain(recorder.last).size(), has_stack ? 1U : 2U)
          << "the call site, and the handler's return";
    }
  }
  EXPECT_EQ(recorder.ids.size(), 2U);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  if (has_stack) {
    ASSERT_EQ(::sigaltstack(&old, nullptr), 0);
  }
}

TEST(CallStacks, EndInASignalHandler) {
  signal_path(false);
}
TEST(CallStacks, EndOnASignalStack) {
  signal_path(true);
}

ucontext_t main_context;
ucontext_t fiber_context;
Recorder* fibers = nullptr;
void run_fiber() {
  for (unsigned i = 0;; ++i) {
    branch(*fibers, i % 8, 3);
    with_alloca(*fibers, 6000 + i % 5 * 64);
    ::swapcontext(&fiber_context, &main_context);
  }
}

/// Nobody knows what lies at the end of a fiber's stack, so it is not walked. What the same call
/// sites have on the thread's stack stays right.
TEST(CallStacks, AreCallSitesOnFibers) {
  Recorder recorder;
  recorder.is_compared = false;
  fibers = &recorder;
  first(recorder);
  auto memory = std::make_unique<std::array<char, 1 << 17>>();
  ASSERT_EQ(::getcontext(&fiber_context), 0);
  fiber_context.uc_stack.ss_sp = memory->data();
  fiber_context.uc_stack.ss_size = memory->size();
  fiber_context.uc_link = &main_context;
  ::makecontext(&fiber_context, &run_fiber, 0);
  for (int i = 0; i < 200; ++i) {
    ::swapcontext(&main_context, &fiber_context);
    first(recorder);
  }
  EXPECT_LE(recorder.ids.size(), 11U);
  EXPECT_EQ(recorder.paths.counts().folded, 0U);
  recorder.is_compared = true;
  for (unsigned way = 0; way < 100; ++way) branch(recorder, way % 8, 3);
  EXPECT_EQ(recorder.paths.counts().wrong, 0U);
}

/// Another thread's stack: bounds of the one before would lead behind its end.
TEST(CallStacks, AreLearntAnewByTheNextThread) {
  Recorder recorder;
  std::thread([&] { first(recorder); }).join();
  recorder.paths.change_thread();
  std::thread([&] {
    for (unsigned way = 0; way < 2000; ++way) branch(recorder, way % 8, 6);
  }).join();
  const auto counts = recorder.paths.counts();
  EXPECT_LT(counts.unwinds, 40U);
  EXPECT_EQ(counts.wrong, 0U);
}

/// A signal comes while a new path is kept.
class InterruptedStore : public PathStore {
 public:
  PathId add(PathId, std::uintptr_t) noexcept override {
    if (is_interrupted) ::raise(SIGUSR1);
    return next++;
  }
  bool is_interrupted = false;
  PathId next = 0;
};

CallPaths* interrupted = nullptr;
PathId found_within = 0;
sigjmp_buf way_out;

[[gnu::noipa]] PathId plain_call(CallPaths& paths) {
  return paths.find(static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1, 0).id;
}

void handle(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
}

TEST(CallStacks, AreNotWalkedTwiceAtATime) {
  InterruptedStore store;
  CallPaths paths(store, {}, nullptr);
  interrupted = &paths;
  handle([](int) { found_within = plain_call(*interrupted); });
  store.is_interrupted = true;
  EXPECT_NE(plain_call(paths), kNoPath);
  EXPECT_EQ(found_within, kNoPath);
  EXPECT_GT(paths.counts().lost, 0U);
  store.is_interrupted = false;
  handle(SIG_DFL);
}

TEST(CallStacks, AreWalkedAfterAHandlerJumpedOut) {
  InterruptedStore store;
  CallPaths paths(store, {}, nullptr);
  handle([](int) { siglongjmp(way_out, 1); });
  store.is_interrupted = true;
  if (sigsetjmp(way_out, 1) == 0) {
    plain_call(paths);
    FAIL() << "the handler jumps over this";
  }
  store.is_interrupted = false;
  EXPECT_NE(plain_call(paths), kNoPath);
  EXPECT_NE(plain_call(paths), kNoPath);
  EXPECT_EQ(paths.counts().lost, 0U);
  handle(SIG_DFL);
}

}  // namespace
}  // namespace headrace::record
