// Calls of traced functions where it is hard to know whose they are: in children of which nobody is
// told, on a stack within the stack, in a library with its own scope, while recording is off.
// argv[1]: what to do.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>

#include "traced_library.h"

namespace {

std::map<std::string, long> tally;

void check(bool is_right, const char* what) {
  if (is_right) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  _exit(1);
}

void call(int times) {
  for (int i = 0; i < times; ++i) traced_nothing();
}

void call_and_count(int times) {
  call(times);
  tally["traced_nothing"] += times;
}

void wait_for(pid_t child) {
  int status = 1;
  waitpid(child, &status, 0);
  check(status == 0, "a child");
}

pid_t (*new_process)();
bool is_child = false;

/// Neither way to fork calls what pthread_atfork() was told.
void children(pid_t (*fork_quietly)()) {
  new_process = fork_quietly;
  call_and_count(10);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = new_process();
    if (child == 0) {
      call(1000);
      traced_calls_back([](void*) { call(10); }, nullptr);
      _exit(0);
    }
    wait_for(child);
    call_and_count(10);
  }
  ++tally["traced_calls_back"];
  traced_calls_back(
      [](void*) {
        const pid_t child = new_process();
        is_child = child == 0;
        if (is_child) return call(500);
        wait_for(child);
      },
      nullptr);
  if (is_child) {
    call(100);
    _exit(0);
  }
  call_and_count(10);
}

void forks() {
  children([]() -> pid_t { return _Fork(); });
}

void clones() {
  children([]() -> pid_t { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0); });
}

std::atomic<long> handled = 0;

void handle_with(void (*handler)(int), void* stack, size_t size) {
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = size;
  sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
}

void handle_no_more() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

/// The handler's stack lies within the thread's, further out than the calls that it interrupts.
void inner_stack() {
  alignas(16) char stack[65536];
  handle_with(
      [](int) {
        call(1);
        if (traced_recursive(3) == 4) ++handled;
      },
      stack, sizeof stack);
  call(1);
  for (int i = 0; i < 100; ++i) {
    ++tally["traced_calls_back"];
    traced_calls_back(
        [](void*) {
          raise(SIGUSR1);
          traced_busy(0.001);
        },
        nullptr);
    ++tally["traced_busy"];
  }
  check(handled == 100, "signals");
  handle_no_more();
}

void let_signals(int how) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(how, &alarm, nullptr);
}

/// Signals from the thread's first traced call on, when it takes locks for what it needs.
void first_calls(void* stack, size_t size) {
  handle_with(
      [](int) {
        call(1);
        ++handled;
      },
      stack, size);
  let_signals(SIG_UNBLOCK);
  for (int i = 0; i < 1000; ++i) traced_calls_back([](void*) { call(1); }, nullptr);
  let_signals(SIG_BLOCK);
  handle_no_more();
}

const size_t thread_size = 1 << 20;
const size_t handler_size = 65536;

/// The handler's stack lies behind the end of the thread's own.
void* work_in_thread(void* memory) {
  first_calls(static_cast<char*>(memory) + thread_size, handler_size);
  return nullptr;
}

void early_signals() {
  let_signals(SIG_BLOCK);
  const itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  alignas(16) char stack[handler_size];
  first_calls(stack, sizeof stack);
  void* const memory = mmap(nullptr, thread_size + handler_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, thread_size);
  for (int round = 0; round < 100; ++round) {
    pthread_t thread;
    check(pthread_create(&thread, &attributes, work_in_thread, memory) == 0, "a thread");
    pthread_join(thread, nullptr);
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  check(handled > 0, "signals");
}

/// Without records, calls are not counted; those that begin before are, and so is their end.
void switched_off() {
  for (int i = 0; i < 100; ++i) {
    ++tally["traced_calls_back"];
    traced_calls_back(
        [](void*) {
          call_and_count(3);
          MPI_Pcontrol(0);
          call(50);
        },
        nullptr);
    call(10);
    traced_calls_back(
        [](void*) {
          call(5);
          MPI_Pcontrol(1);
          call_and_count(2);
        },
        nullptr);
  }
}

/// A library that is loaded with a scope of its own (traced_inner.c).
void other_scope() {
  void* const library =
      dlopen(getenv("TRACED_INNER"), RTLD_NOW | RTLD_LOCAL | atoi(getenv("TRACED_FLAGS")));
  check(library != nullptr, "a library");
  const auto run = reinterpret_cast<long (*)(long)>(dlsym(library, "inner_calls"));
  check(run != nullptr && run(1000) == 1000, "calls of the library");
  tally["traced_calls_back"] += 1000;
  tally["traced_nothing"] += 1000;
  call_and_count(10);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::map<std::string, void (*)()> ways = {
      {"forks", forks},         {"clones", clones},         {"inner", inner_stack},
      {"early", early_signals}, {"switched", switched_off}, {"scope", other_scope}};
  ways.at(argv[1])();
  for (const auto& [name, calls] : tally) printf("calls %s %ld\n", name.c_str(), calls);
  printf("ok\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
