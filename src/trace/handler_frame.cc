#include "trace/handler_frame.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "record/own_memory.h"
#include "record/stack_walk.h"

namespace headrace::trace {
namespace {

constexpr std::size_t kMostWords = 8192;
// Words from where a handler's return address lies to what follows it (struct rt_sigframe of
// arch/x86/include/asm/sigframe.h): flags and link of its ucontext, and the stack pointer of what
// it interrupted.
constexpr std::size_t kFlags = 1;
constexpr std::size_t kLink = 2;
constexpr std::size_t kStackPointer = 21;
constexpr std::size_t kFrameWords = 22;
constexpr std::uintptr_t kMostFlags = 7;  // of those that there are, one is always set

std::atomic<std::uintptr_t> mark = 0;

/// As the kernel has it on x86-64 (arch/x86/include/uapi/asm/signal.h).
struct KernelAction {
  void* handler = nullptr;
  unsigned long flags = 0;
  std::uintptr_t restorer = 0;
  std::uint64_t mask = 0;
};

/// `frame`: the words at `place`. The library's sigaction leaves the same return address on stacks.
HEADRACE_READS_STACK bool looks_like_frame(const std::uintptr_t* frame,
                                           const std::uintptr_t* place) noexcept {
  return frame[kFlags] != 0 && frame[kFlags] <= kMostFlags && frame[kLink] == 0 &&
         frame[kStackPointer] > reinterpret_cast<std::uintptr_t>(place);
}

std::uintptr_t restorer_of(int signal) {
  KernelAction action;
  const long failed = ::syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
  return failed == 0 ? action.restorer : 0;
}

}  // namespace

/// The C library gives each action the same restorer. It shows it to nobody, so one is set for a
/// moment, for a signal that nobody uses.
void learn_handler_mark() noexcept {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = [](int) {};
    if (::sigaction(signal, &action, nullptr) != 0) continue;
    mark = restorer_of(signal);
    ::sigaction(signal, &before, nullptr);
    return;
  }
}

HEADRACE_READS_STACK bool may_be_in_handler(const std::uintptr_t* slot,
                                            const std::uintptr_t* end) noexcept {
  if (is_on_signal_stack()) return true;
  const std::uintptr_t wanted = mark.load(std::memory_order_relaxed);
  if (wanted == 0 || end - slot < static_cast<std::ptrdiff_t>(kFrameWords)) return false;
  const std::size_t there = static_cast<std::size_t>(end - slot) - kFrameWords + 1;
  for (std::size_t i = 0; i < std::min(there, kMostWords); ++i) {
    if (slot[i] == wanted && looks_like_frame(slot + i, slot + i)) return true;
  }
  return false;
}

bool may_be_in_handler(const std::uintptr_t* slot) noexcept {
  if (is_on_signal_stack()) return true;
  const std::uintptr_t wanted = mark.load(std::memory_order_relaxed);
  std::array<std::uintptr_t, 128> words;
  for (std::size_t i = 0; i < kMostWords; i += words.size()) {
    if (!record::read_own_memory(slot + i, words.data(), sizeof words)) return i == 0;
    for (std::size_t k = 0; k < words.size(); ++k) {
      std::array<std::uintptr_t, kFrameWords> frame;
      const std::uintptr_t* const place = slot + i + k;
      if (words[k] == wanted && record::read_own_memory(place, frame.data(), sizeof frame) &&
          looks_like_frame(frame.data(), place)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace headrace::trace
