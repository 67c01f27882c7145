// Calls functions of a library (traced_library.h), checks what they return, and prints how often it
// called each. argv[1]: what to do.
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "traced_library.h"

namespace {

std::map<std::string, long> tally;
std::mutex mutex;

void count(const char* name, long calls = 1) {
  const std::lock_guard lock(mutex);
  tally[name] += calls;
}

void check(bool is_right, const char* what) {
  if (is_right) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int compare(const void* one, const void* other) {
  const long a = *static_cast<const long*>(one);
  const long b = *static_cast<const long*>(other);
  return a < b ? -1 : a > b;
}

void call_with_arguments() {
  const double many = traced_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                  20, 21, 22, 23, 24, 25, 26);
  double expected = 0;
  for (int i = 1; i <= 26; ++i) expected += double(i) * i;
  check(many == expected, "many arguments");
  count("traced_many");
  wide given{};
  for (int i = 0; i < 40; ++i) given.value[i] = i;
  wide more{};
  more.value[0] = 0.5;
  double sum = 0;
  for (int i = 0; i < 40; ++i) sum += 2. * i * i;
  // So that the copy is 640 bytes and more, the struct of the plan has it.
  if (getenv("TRACED_WIDE") != nullptr) {
    check(traced_wide(given, 3, more) == sum + 6 + 0.5, "a struct on the stack");
    check(given.value[7] == 7, "the caller's struct");
    count("traced_wide");
  }
  const wide made = traced_result(3);
  check(made.value[39] == 339 && made.value[0] == 300, "a result in memory");
  count("traced_result");
  const pair two = traced_pair(1.5, 7);
  check(two.x == 3 && two.n == 21, "a result in two kinds of registers");
  count("traced_pair");
  check(traced_long(1.25L, 2) == 5.75L, "long double");
  count("traced_long");
  const auto product = traced_complex(2. + 3.j);
  check(__real__ product == -5 && __imag__ product == 12, "complex");
  count("traced_complex");
  const __int128 big = (__int128(1) << 90) + 5;
  check(traced_int128(big, 3) == big * 3, "128 bits");
  count("traced_int128");
  check(traced_variadic(12, 1.5, 2, 3.5, 4, 5.5, 6, 7.5, 8, 9.5, 10, 11.5, 12) == 81, "variadic");
  count("traced_variadic");
  long numbers[5] = {5, 3, 9, 1, 7};
  check(traced_sorted(numbers, 5, compare) == 1, "a callback");
  count("traced_sorted");
  check(sin(1.) == std::sin(1.0) && std::abs(pow(2., 0.5) - 1.41421356237) < 1e-9, "libm");
#if defined(__AVX__)
  const vector a = {1, 2, 3, 4};
  const vector b = {5, 6, 7, 8};
  const vector c = traced_vector(a, b);
  check(c[0] == 6 && c[3] == 36, "registers of vectors");
  count("traced_vector");
#endif
}

void arguments() {
  for (int i = 0; i < 1000; ++i) call_with_arguments();
}

[[gnu::noinline]] void throw_at(void* depth) {
  intptr_t left = reinterpret_cast<intptr_t>(depth);
  if (left == 0) throw 7;
  count("traced_calls_back");
  traced_calls_back(throw_at, reinterpret_cast<void*>(left - 1));
}

void exceptions() {
  for (int i = 0; i < 500; ++i) {
    int caught = 0;
    try {
      throw_at(reinterpret_cast<void*>(intptr_t(i % 5)));
    } catch (int thrown) {
      caught = thrown;
    }
    check(caught == 7, "an exception");
    traced_nothing();
    count("traced_nothing");
  }
  // The end of a thread passes through, too.
  std::thread([] {}).join();
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        traced_calls_back([](void*) { pthread_exit(nullptr); }, nullptr);
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  count("traced_calls_back");
}

jmp_buf place;

void jumps() {
  static int i;
  for (i = 0; i < 1000; ++i) {
    count("traced_calls_back");
    if (setjmp(place) == 0) {
      traced_calls_back([](void*) { longjmp(place, 1); }, nullptr);
      check(false, "a jump");
    }
    traced_nothing();
    count("traced_nothing");
  }
}

std::atomic<long> handled = 0;

/// Handlers call what the program calls, and interrupt it anywhere.
void signals() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    traced_nothing();
    if (traced_recursive(3) == 4) ++handled;
  };
  action.sa_flags = SA_RESTART | (getenv("TRACED_STACK") != nullptr ? SA_ONSTACK : 0);
  stack_t other{};
  other.ss_size = 65536;
  other.ss_sp = malloc(other.ss_size);
  sigaltstack(&other, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (long i = 0; i < 2000000 && handled < 500; ++i) {
    traced_nothing();
    check(traced_pair(1, i).n == 3 * i, "a call that signals interrupt");
    count("traced_pair");
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  check(handled > 0, "signals");
}

void threads() {
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t) {
      all.emplace_back([] {
        for (int i = 0; i < 2000; ++i) {
          traced_nothing();
          if (traced_recursive(9) != 10) abort();
        }
        count("traced_nothing", 2000);
        count("traced_recursive", 2000);
      });
    }
    for (std::thread& one : all) one.join();
  }
}

/// In a child nothing is recorded, and it must not count for its parent.
void children() {
  for (int i = 0; i < 3; ++i) {
    traced_nothing();
    count("traced_nothing");
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 1000; ++k) traced_nothing();
      traced_calls_back([](void*) { traced_nothing(); }, nullptr);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(status == 0, "a child");
  }
  // Within a traced call.
  count("traced_calls_back");
  traced_calls_back(
      [](void*) {
        const pid_t child = fork();
        if (child == 0) return;
        int status = 0;
        waitpid(child, &status, 0);
        check(status == 0, "a child of a traced call");
        count("parent");
      },
      nullptr);
  if (tally["parent"] == 0) _exit(0);
}

ucontext_t main_context;
ucontext_t fiber_context;
long switches = 0;

/// Calls on other stacks are not traced, but go on as ever.
void fibers() {
  const size_t size = 65536;
  // Right below memory that must not be read.
  const long page = sysconf(_SC_PAGESIZE);
  char* const memory =
      static_cast<char*>(mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory, size, PROT_READ | PROT_WRITE);
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = memory;
  fiber_context.uc_stack.ss_size = size;
  fiber_context.uc_link = &main_context;
  makecontext(
      &fiber_context,
      [] {
        for (;;) {
          traced_calls_back([](void*) { ++switches; }, nullptr);
          traced_calls_back([](void*) { swapcontext(&fiber_context, &main_context); }, nullptr);
        }
      },
      0);
  for (int i = 0; i < 100; ++i) {
    traced_nothing();
    count("traced_nothing");
    swapcontext(&main_context, &fiber_context);
  }
  check(switches == 100, "fibers");
}

/// Threads with the least stack that there may be.
void small_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    const auto work = [](void*) -> void* {
      for (int k = 0; k < 100; ++k) traced_nothing();
      return traced_recursive(2) == 3 ? nullptr : &tally;
    };
    check(pthread_create(&thread, &attributes, work, nullptr) == 0, "a small thread");
    void* result = nullptr;
    pthread_join(thread, &result);
    check(result == nullptr, "a call in a small thread");
  }
}

/// What the C library's functions of all groups do, and one that is named like them.
void names() {
  wide given{};
  given.value[39] = 4000;
  wide more{};
  more.value[39] = 5;
  check(send_halo(given, more) == 4005, "a function that is not the system's");
  char text[1024];
  std::string expected;
  for (int i = 1; i <= 80; ++i) expected += std::to_string(i) + " ";
  snprintf(text, sizeof text,
           "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
           "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
           "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
           "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d ",
           1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
           25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
           47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68,
           69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80);
  check(text == expected, "many arguments of a variadic function");
  for (int i = 0; i < 100; ++i) {
    errno = 77;
    traced_nothing();
    check(errno == 77, "errno");
    void* volatile memory = malloc(100 + i);
    free(memory);
    check(close(-1) == -1 && errno == EBADF, "a failing call's errno");
  }
  count("traced_nothing", 100);
  count("close", 100);
}

/// A call that was left does not hide the time of later ones.
void jumps_and_times() {
  if (setjmp(place) == 0) traced_calls_back([](void*) { longjmp(place, 1); }, nullptr);
  char deeper[4096];
  __asm__ volatile("" : : "r"(deeper) : "memory");
  for (int i = 0; i < 20; ++i) traced_calls_back([](void*) { usleep(1000); }, nullptr);
  count("traced_calls_back", 21);
}

double seconds() {
  return MPI_Wtime();
}

/// Prints how long calls took, in all and outside inner ones.
void times() {
  double outer = 0;
  double inner = 0;
  for (int i = 0; i < 10; ++i) {
    const double begin = seconds();
    const double before = traced_in_busy;
    traced_outer(0.02, 0.03);
    outer += seconds() - begin;
    inner += traced_in_busy - before;
    traced_busy(0.01);
  }
  count("traced_outer", 10);
  count("traced_busy", 20);
  // In MPI, within a traced call.
  double in_mpi = 0;
  traced_calls_back(
      [](void* sum) {
        const int size = 8 << 20;
        std::vector<char> sent(size, 1), got(size);
        for (int i = 0; i < 20; ++i) {
          const double begin = seconds();
          MPI_Sendrecv(sent.data(), size, MPI_CHAR, 0, 0, got.data(), size, MPI_CHAR, 0, 0,
                       MPI_COMM_SELF, MPI_STATUS_IGNORE);
          *static_cast<double*>(sum) += seconds() - begin;
        }
      },
      &in_mpi);
  count("traced_calls_back");
  printf("seconds %.9f %.9f %.9f %.9f\n", outer, inner, traced_in_busy, in_mpi);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const std::string way = argc > 1 ? argv[1] : "arguments";
  const std::map<std::string, void (*)()> ways = {
      {"arguments", arguments}, {"exceptions", exceptions}, {"jumps", jumps},
      {"signals", signals},     {"threads", threads},       {"children", children},
      {"fibers", fibers},       {"times", times},           {"names", names},
      {"small", small_stacks},  {"left", jumps_and_times}};
  ways.at(way)();
  for (const auto& [name, calls] : tally) printf("calls %s %ld\n", name.c_str(), calls);
  printf("ok\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
