#include <gtest/gtest.h>
#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "profile/unwinder.h"

namespace headrace::profile {
namespace {

#if defined(__x86_64__)

constexpr std::size_t kStack = std::size_t{64} << 10;

std::uintptr_t end_of_stack() {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + size;
}

/// What the trap's handler works with, and what it found.
struct Stepping {
  CodeMap code;
  Unwinder unwinder{code};
  std::uintptr_t stack_end = 0;
  std::uintptr_t marker_begin = 0;  // of the function that must be on each path
  std::uintptr_t marker_end = 0;
  std::array<std::byte, kStack> bytes;
  Unwound found;
  int steps = 0;
  int marked = 0;
  int whole = 0;
  std::uintptr_t first_wrong = 0;
};

Stepping* stepping = nullptr;

/// The tables of objects that stay.
void learn_code(CodeMap& code) {
  ASSERT_TRUE(code.with_objects_held([](void*) {}, nullptr));
}

void take(const void* context) {
  Stepping& own = *stepping;
  const Registers registers = registers_of_context(context);
  const std::uintptr_t pointer = registers[kStackPointer];
  const std::size_t size = std::min<std::size_t>(own.stack_end - pointer, kStack);
  std::memcpy(own.bytes.data(), reinterpret_cast<const void*>(pointer), size);
  own.unwinder.unwind(registers, {pointer, {own.bytes.data(), size}}, own.found);
  auto* const end = own.found.addresses.begin() + own.found.depth;
  const bool is_marked = std::any_of(own.found.addresses.begin(), end, [&](std::uintptr_t at) {
    return at > own.marker_begin && at <= own.marker_end;
  });
  ++own.steps;
  own.marked += is_marked ? 1 : 0;
  own.whole += own.found.is_whole ? 1 : 0;
  if (!own.found.is_whole && own.first_wrong == 0) {
    own.first_wrong = registers[kReturnAddress];
  }
}

constexpr long kTrap = 0x100;  // of the flags: a trap after each instruction

void on_trap(int, siginfo_t*, void* context) {
  take(context);
}

[[gnu::noinline]] void begin_traps() {
  asm volatile(
      "pushfq; .cfi_adjust_cfa_offset 8; orq %0, (%%rsp); popfq; .cfi_adjust_cfa_offset -8" ::"i"(
          kTrap)
      : "cc", "memory");
}

[[gnu::noinline]] void end_traps() {
  asm volatile(
      "pushfq; .cfi_adjust_cfa_offset 8; andq %0, (%%rsp); popfq; .cfi_adjust_cfa_offset -8" ::"i"(
          ~kTrap)
      : "cc", "memory");
}

int compare(const void* left, const void* right) {
  return std::strcmp(*static_cast<const char* const*>(left),
                     *static_cast<const char* const*>(right));
}

[[gnu::noinline]] double with_array(int count) {
  auto* const words = static_cast<double*>(__builtin_alloca(sizeof(double) * count));
  for (int i = 0; i < count; ++i) words[i] = std::sin(i);
  return words[count / 2] + std::pow(words[1], 1.5);
}

struct alignas(64) Aligned {
  double values[8];
};

/// Whose frame is aligned, so that its end is kept in a register.
[[gnu::noinline]] double aligned(double seed) {
  volatile Aligned one{};
  one.values[3] = seed;
  return with_array(static_cast<int>(one.values[3]));
}

[[gnu::noinline]] int throwing(int depth) {
  if (depth == 0) throw std::string("end");
  return throwing(depth - 1) + 1;
}

/// All that is stepped through lies in it.
[[gnu::noinline, gnu::section("headrace_marker")]] double work() {
  const char* words[] = {"delta", "alpha", "charlie", "bravo"};
  std::qsort(words, 4, sizeof *words, &compare);
  double sum = with_array(17) + aligned(5);
  char text[64];
  std::snprintf(text, sizeof text, "%s %g", words[0], sum);
  std::jmp_buf place;
  if (setjmp(place) == 0) std::longjmp(place, 1);
  try {
    sum += throwing(3);
  } catch (const std::string& end) {
    sum += static_cast<double>(end.size());
  }
  return sum;
}

extern "C" const char __start_headrace_marker[];
extern "C" const char __stop_headrace_marker[];

class UnwinderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    learn_code(own_.code);
    own_.stack_end = end_of_stack();
    own_.marker_begin = reinterpret_cast<std::uintptr_t>(__start_headrace_marker);
    own_.marker_end = reinterpret_cast<std::uintptr_t>(__stop_headrace_marker);
    stepping = &own_;
  }
  Stepping own_;
};

// Prologues, epilogues, stubs of the procedure linkage table, the dynamic linker, frames of
// changing size, aligned ones, signal frames (the trap's own), and the unwinder of exceptions.
TEST_F(UnwinderTest, FollowsEachInstruction) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_sigaction = &on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  begin_traps();
  const double sum = work();
  end_traps();
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_NE(sum, 0);
  EXPECT_GT(own_.steps, 3000);
  // The instructions before and after `work` are not in it. In longjmp the stack pointer is the new
  // one for three instructions, and the tables of the C library speak of the old one.
  EXPECT_GE(own_.marked + 32, own_.steps) << std::hex << own_.first_wrong;
  EXPECT_GE(own_.whole + 4, own_.steps) << std::hex << own_.first_wrong;
}

void on_user_signal(int, siginfo_t*, void*) {
  ucontext_t here;
  getcontext(&here);
  take(&here);
}

[[gnu::noinline, gnu::section("headrace_marker")]] void be_interrupted() {
  std::raise(SIGUSR1);
  asm volatile("");
}

TEST_F(UnwinderTest, PassesSignalFrames) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_sigaction = &on_user_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, &before);
  be_interrupted();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(own_.steps, 1);
  EXPECT_EQ(own_.marked, 1);
  EXPECT_EQ(own_.whole, 1);
}

[[gnu::noinline]] Registers registers_here() {
  ucontext_t here;
  getcontext(&here);
  return registers_of_context(&here);
}

TEST_F(UnwinderTest, SaysThatACopyIsCut) {
  const Registers registers = registers_here();
  const std::uintptr_t pointer = registers[kStackPointer];
  for (const std::size_t size : {0, 8, 64, 200}) {
    std::memcpy(own_.bytes.data(), reinterpret_cast<const void*>(pointer), size);
    own_.unwinder.unwind(registers, {pointer, {own_.bytes.data(), size}}, own_.found);
    EXPECT_GE(own_.found.depth, 1U);
    EXPECT_FALSE(own_.found.is_whole);
  }
}

// Whatever the registers and the stack hold, nothing outside the copy is read.
TEST_F(UnwinderTest, BearsAnyRegistersAndStacks) {
  std::uint64_t state = 7;
  const auto random = [&] { return state = state * 6364136223846793005U + 1442695040888963407U; };
  const auto code = reinterpret_cast<std::uintptr_t>(&std::qsort);
  for (int i = 0; i < 20000; ++i) {
    Registers registers{};
    const std::uintptr_t pointer = random() & ~std::uintptr_t{7};
    for (std::uintptr_t& one : registers)
      one = random() % 2 == 0 ? random() : pointer + random() % 512;
    registers[kStackPointer] = pointer;
    registers[kReturnAddress] = code + random() % 65536;
    for (std::size_t place = 0; place < 512; place += 8) {
      const std::uint64_t word =
          random() % 2 == 0 ? code + random() % 65536 : pointer + random() % 512;
      std::memcpy(own_.bytes.data() + place, &word, sizeof word);
    }
    own_.unwinder.unwind(registers, {pointer, {own_.bytes.data(), 512}}, own_.found);
    EXPECT_LE(own_.found.depth, Unwound::kMost);
  }
}

#endif

}  // namespace
}  // namespace headrace::profile
