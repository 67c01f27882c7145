#include "profile/sample_signal.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/kept_errno.h"
#include "record/record_switch.h"

namespace headrace::profile {
namespace {

constexpr int kSpared = 4;  // the first real-time signals are those that programs take
constexpr std::uintptr_t kPage = 4096;
constexpr std::int64_t kSecond = 1'000'000'000;

struct Handling {
  int signal = 0;
  SignalPlan plan;
  std::atomic<bool> is_on = false;
};

constinit Handling handling;

/// Behind the last byte that may be copied.
std::uintptr_t end_of_copy(SampledThread& thread, std::uintptr_t pointer) noexcept {
  const std::uintptr_t begin = thread.stack_begin.load(std::memory_order_acquire);
  std::uintptr_t end = thread.stack_end.load(std::memory_order_acquire);
  if (pointer < begin || pointer >= end) {
    thread.unknown_stack.store(pointer, std::memory_order_relaxed);
    return (pointer | (kPage - 1)) + 1;
  }
#if defined(__x86_64__)
  // A thread's own data lies behind its stack; another thread's memory may follow.
  const auto own = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  if (own > pointer && own < end) end = own;
#endif
  return std::min(end, pointer + handling.plan.stack_size);
}

/// A function of its own: the frames take room on the stack, which may be the program's small one
/// for signals.
[[gnu::noinline]] bool add_with_python(SampledThread& thread, const RawSample& sample,
                                       std::uintptr_t pointer, std::uintptr_t end,
                                       bool may_go) noexcept {
  PythonSample python;
  read_python_frames(*handling.plan.python, python);
  return thread.ring.add(sample, pointer, end, may_go, &python);
}

void take_sample(SampledThread& thread, std::int64_t periods, const void* context) noexcept {
  RawSample sample{};
  sample.registers = registers_of_context(context);
  sample.time = periods * thread.period.load(std::memory_order_relaxed);
  const record::ThreadRecord* const own = thread.record.load(std::memory_order_acquire);
  sample.region = own != nullptr ? own->region() : 0;
  const std::uintptr_t pointer = sample.registers[kStackPointer];
  const std::uintptr_t end = knows_frames() ? end_of_copy(thread, pointer) : pointer;
  const bool may_go = thread.stack_may_go.load(std::memory_order_relaxed);
  const bool is_due = handling.plan.python != nullptr
                          ? add_with_python(thread, sample, pointer, end, may_go)
                          : thread.ring.add(sample, pointer, end, may_go);
  if (is_due) handling.plan.wake();
}

void handle(int, siginfo_t* info, void* context) {
  const KeptErrno kept;
  if (info->si_code != SI_TIMER || !handling.is_on.load(std::memory_order_acquire)) return;
  auto* const thread = static_cast<SampledThread*>(info->si_value.sival_ptr);
  if (!thread->is_on.load(std::memory_order_acquire)) return;
  if (record::is_switched_off.load(std::memory_order_relaxed)) return;
  take_sample(*thread, std::int64_t{1} + std::max(info->si_overrun, 0), context);
}

bool is_free(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

void set_blocked(int how) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, handling.signal);
  ::pthread_sigmask(how, &own, nullptr);
}

// The kernel starts a fork anew if a signal interrupts it. In a large process it might never end.
thread_local bool blocked_for_fork = false;

void before_fork() {
  if (handling.signal == 0) return;
  sigset_t now;
  sigemptyset(&now);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  blocked_for_fork = sigismember(&now, handling.signal) == 0;
  if (blocked_for_fork) set_blocked(SIG_BLOCK);
}

void after_fork() {
  if (blocked_for_fork) set_blocked(SIG_UNBLOCK);
  blocked_for_fork = false;
}

}  // namespace

void block_signal_in_forks() {
  ::pthread_atfork(&before_fork, &after_fork, &after_fork);
}

int take_signal(const SignalPlan& plan) {
  handling.plan = plan;
  if (handling.signal != 0) return handling.signal;
  for (int signal = SIGRTMIN + kSpared; signal <= SIGRTMAX; ++signal) {
    if (!is_free(signal)) continue;
    struct sigaction action{};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    if (::sigaction(signal, &action, nullptr) != 0) continue;
    handling.signal = signal;
    return signal;
  }
  return 0;
}

bool has_signal() {
  struct sigaction action{};
  return ::sigaction(handling.signal, nullptr, &action) == 0 &&
         (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handle;
}

bool arm(SampledThread& thread, TimerClock clock) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = handling.signal;
  event.sigev_value.sival_ptr = &thread;
  event._sigev_un._tid = thread.id;
  const clockid_t by = clock == TimerClock::cpu ? cpu_clock_of(thread.id) : CLOCK_MONOTONIC;
  if (::timer_create(by, &event, &thread.timer) != 0) return false;
  const std::int64_t period = thread.period.load();
  const timespec each = {static_cast<time_t>(period / kSecond),
                         static_cast<long>(period % kSecond)};
  const itimerspec times = {each, each};
  thread.is_on.store(true, std::memory_order_release);
  if (::timer_settime(thread.timer, 0, &times, nullptr) == 0) {
    thread.has_timer = true;
    return true;
  }
  const int why = errno;
  ::timer_delete(thread.timer);
  thread.is_on = false;
  errno = why;
  return false;
}

void disarm(SampledThread& thread) {
  thread.is_on.store(false, std::memory_order_release);
  if (thread.has_timer) ::timer_delete(thread.timer);
  thread.has_timer = false;
}

void let_signals_sample(bool on) {
  handling.is_on.store(on, std::memory_order_release);
}

}  // namespace headrace::profile
