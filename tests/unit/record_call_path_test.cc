#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "record/call_path.h"

namespace headrace::record {
namespace {

using Chain = std::vector<std::uintptr_t>;

/// Keeps all paths, in memory.
class MemoryStore : public PathStore {
 public:
  explicit MemoryStore(std::size_t most = 1 << 16) : most_(most) {
    frames_.reserve(most);  // a signal handler adds to it
  }

  PathId add(PathId caller, std::uintptr_t return_address) noexcept override {
    if (frames_.size() == most_) return kNoPath;
    frames_.push_back({caller, return_address});
    return static_cast<PathId>(frames_.size() - 1);
  }
  /// Innermost first.
  Chain chain(PathId id) const {
    Chain chain;
    for (; id != kNoPath; id = frames_[id].caller) chain.push_back(frames_[id].return_address);
    return chain;
  }
  std::size_t size() const { return frames_.size(); }

 private:
  struct Frame {
    PathId caller;
    std::uintptr_t return_address;
  };
  std::size_t most_;
  std::vector<Frame> frames_;
};

/// Takes no memory to insert: a signal handler does.
class IdSet {
 public:
  void insert(PathId id) {
    if (id != kNoPath && !std::exchange(has_[id], true)) ++size_;
  }
  std::size_t size() const { return size_; }

 private:
  std::vector<char> has_ = std::vector<char>(1 << 16);
  std::size_t size_ = 0;
};

/// What stands for a recorder: calls find their path, and a wholly different unwinder, libc's, says
/// what it is.
struct Recorder {
  explicit Recorder(PathLimits limits = {}, bool (*is_of_library)(std::uintptr_t) = nullptr,
                    std::size_t most = 1 << 16)
      : store(most), paths(store, limits, is_of_library), depth(limits.depth) {}

  MemoryStore store;
  CallPaths paths;
  int depth;
  bool is_compared = true;
  IdSet ids;
  PathId last = kNoPath;
  int calls = 0;
};

Chain chain_by_libc(const std::uintptr_t* slot, int depth) {
  std::array<void*, 128> found{};
  const int count = ::backtrace(found.data(), found.size());
  Chain chain;
  for (int i = 0; i < count; ++i) chain.push_back(reinterpret_cast<std::uintptr_t>(found[i]));
  chain.erase(chain.begin(), std::ranges::find(chain, *slot));
  if (chain.size() > static_cast<std::size_t>(depth)) chain.resize(depth);
  while (!chain.empty() && chain.back() == 0) chain.pop_back();
  return chain;
}

[[gnu::noipa]] PathEnd& mpi_call(Recorder& recorder) {
  const auto* slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
  PathEnd& end = recorder.paths.find(slot);
  recorder.last = end.id;
  recorder.ids.insert(end.id);
  ++recorder.calls;
  if (recorder.is_compared) {
    EXPECT_EQ(recorder.store.chain(end.id), chain_by_libc(slot, recorder.depth));
  }
  return end;
}

void keep(const volatile void* memory) {
  asm volatile("" : : "r"(memory) : "memory");
}

[[gnu::noipa]] void first(Recorder& recorder) {
  mpi_call(recorder);
  keep(&recorder);
}
[[gnu::noipa]] void second(Recorder& recorder) {
  mpi_call(recorder);
  keep(&recorder);
  mpi_call(recorder);
  keep(&recorder);
}

TEST(CallPaths, AreTheSameForTheSameCallers) {
  Recorder recorder;
  for (int i = 0; i < 1000; ++i) {
    first(recorder);
    second(recorder);
  }
  EXPECT_EQ(recorder.ids.size(), 3U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 3U);
  EXPECT_EQ(recorder.paths.counts().hits, 2997U);
}

[[gnu::noipa]] PathEnd& one_site(Recorder& recorder) {
  PathEnd& end = mpi_call(recorder);
  keep(&end);
  return end;
}

TEST(CallPaths, KeepTheirRows) {
  Recorder recorder({.depth = 1});
  int row = 0;
  for (int i = 0; i < 3; ++i) {
    PathEnd& end = one_site(recorder);
    EXPECT_EQ(end.rows, i == 0 ? nullptr : &row);
    end.rows = &row;
  }
}

[[gnu::noipa]] void with_alloca(Recorder& recorder, std::size_t size) {
  auto* memory = static_cast<volatile char*>(alloca(size));
  memory[0] = 1;
  keep(memory);
  mpi_call(recorder);
  keep(memory);
}

TEST(CallPaths, AreOneWhateverAnArrayMeasures) {
  Recorder recorder;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t size = 16; size < 4000; size += 40) with_alloca(recorder, size);
  }
  EXPECT_EQ(recorder.ids.size(), 1U);
  EXPECT_LE(recorder.paths.counts().unwinds, 250U);
}

TEST(CallPaths, AreUnwoundWhereAnArrayIsNeverTheSame) {
  Recorder recorder;
  for (std::size_t size = 16; size < 160000; size += 16) with_alloca(recorder, size);
  EXPECT_EQ(recorder.ids.size(), 1U);
  EXPECT_EQ(recorder.paths.counts().folded, 0U);
}

template <int kAlignment>
[[gnu::noipa]] void aligned(Recorder& recorder, int deeper) {
  alignas(kAlignment) volatile std::array<double, 16> memory{};
  keep(&memory);
  if (deeper > 0) {
    aligned<kAlignment == 64 ? 128 : 64>(recorder, deeper - 1);
  } else {
    with_alloca(recorder, 48);
  }
  keep(&memory);
}

[[gnu::noipa]] void shifted(Recorder& recorder, std::size_t size, int deeper) {
  auto* memory = static_cast<volatile char*>(alloca(size));
  memory[0] = 1;
  keep(memory);
  aligned<64>(recorder, deeper);
  keep(memory);
}

TEST(CallPaths, AreOneWhateverTheStacksAlignmentIs) {
  Recorder recorder;
  for (int round = 0; round < 20; ++round) {
    for (int deeper = 0; deeper < 4; ++deeper) {
      for (std::size_t size = 16; size < 300; size += 16) shifted(recorder, size, deeper);
    }
  }
  EXPECT_EQ(recorder.ids.size(), 4U);
}

[[gnu::noipa]] int recursive(Recorder& recorder, int deeper) {
  if (deeper == 0) {
    mpi_call(recorder);
  } else if (deeper % 3 == 0) {
    recursive(recorder, deeper - 1);
    asm volatile("");
  } else {
    recursive(recorder, deeper - 1);
    asm volatile("nop");
  }
  return deeper + 1;
}

TEST(CallPaths, OfRecursionEndAtTheirDepth) {
  Recorder recorder({.depth = 5});
  for (int round = 0; round < 50; ++round) {
    for (int deeper = 0; deeper < 40; ++deeper) recursive(recorder, deeper);
  }
  EXPECT_EQ(recorder.ids.size(), 5U) << "four with the test's own frame, and one without";
}

/// 64 paths of 6 frames and more to one call: each bit of `way` is one of two call sites.
[[gnu::noipa]] int branch(Recorder& recorder, unsigned way, int levels) {
  if (levels == 0) {
    mpi_call(recorder);
    return 1;
  }
  // The compiler would make one call of two that go on alike.
  int more = 0;
  if ((way & 1) != 0) {
    more = branch(recorder, way >> 1, levels - 1);
    asm volatile("nop");
  } else {
    more = branch(recorder, way >> 1, levels - 1);
    asm volatile("");
  }
  return more + 1;
}

TEST(CallPaths, OfOneSiteAreToldApart) {
  Recorder recorder({.depth = 7});
  std::array<PathId, 64> ids{};
  for (unsigned way = 0; way < 64; ++way) {
    branch(recorder, way, 6);
    ids[way] = recorder.last;
  }
  EXPECT_EQ(recorder.ids.size(), 64U);
  for (unsigned i = 0; i < 20000; ++i) {
    const unsigned way = i * 2654435761U >> 26;
    branch(recorder, way, 6);
    ASSERT_EQ(recorder.last, ids[way]);
  }
  EXPECT_EQ(recorder.ids.size(), 64U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 64U);
}

TEST(CallPaths, AreCheckedNowAndThen) {
  Recorder recorder({.check_each = 10});
  for (int i = 0; i < 1000; ++i) {
    branch(recorder, static_cast<unsigned>(i) % 8, 3);
    with_alloca(recorder, static_cast<std::size_t>(i) % 7 * 16 + 16);
  }
  EXPECT_GT(recorder.paths.counts().checks, 150U);
  EXPECT_EQ(recorder.paths.counts().wrong, 0U);
}

TEST(CallPaths, BeyondTheBoundCountForTheirSite) {
  Recorder recorder({.depth = 20, .most_nodes = 512});
  recorder.is_compared = false;
  for (int round = 0; round < 3; ++round) {
    for (unsigned way = 0; way < 10000; ++way) branch(recorder, way, 14);
  }
  const CallPaths::Counts counts = recorder.paths.counts();
  EXPECT_LE(recorder.store.size(), 512U);
  EXPECT_LT(recorder.ids.size(), 512U);
  EXPECT_EQ(counts.folded + counts.hits + counts.unwinds, 30001U) << "the first one did both";
  EXPECT_EQ(recorder.store.chain(recorder.last).size(), 1U);
  first(recorder);
  EXPECT_EQ(recorder.store.chain(recorder.last).size(), 1U) << "a site of its own";
  EXPECT_EQ(recorder.paths.counts().lost, 0U);
}

TEST(CallPaths, WithoutRoomInTheStoreAreNone) {
  Recorder recorder({}, nullptr, 3);
  recorder.is_compared = false;
  first(recorder);
  EXPECT_EQ(recorder.last, kNoPath);
  EXPECT_EQ(recorder.paths.counts().lost, 1U);
}

int asked = 0;
TEST(CallPaths, OfTheLibraryAreNotUnwound) {
  asked = 0;
  Recorder recorder({}, [](std::uintptr_t) { return ++asked != 0; });
  recorder.is_compared = false;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(mpi_call(recorder).is_of_library);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(recorder.store.size(), 0U);
  EXPECT_EQ(recorder.paths.counts().unwinds, 0U);
}

TEST(CallPaths, BelongToTheirThread) {
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

TEST(CallPaths, StayRightAfterExceptionsAndJumps) {
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

TEST(CallPaths, OfTailCallsAreThoseOnTheStack) {
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

/// Of a handler only its own frames are a path, on its own stack or not.
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
      EXPECT_EQ(recorder.store.chain(recorder.last).size(), 2U) << "the handler, and its return";
    }
  }
  EXPECT_EQ(recorder.ids.size(), 2U);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  if (has_stack) {
    ASSERT_EQ(::sigaltstack(&old, nullptr), 0);
  }
}

TEST(CallPaths, EndInASignalHandler) {
  signal_path(false);
}
TEST(CallPaths, EndOnASignalStack) {
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

TEST(CallPaths, AreFoundOnFibers) {
  Recorder recorder;
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
}

}  // namespace
}  // namespace headrace::record
