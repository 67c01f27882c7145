// Stand-ins for functions that end the process, replace its program, or start another: what buffers
// hold back is in the files before. They are led here only if files get buffers, but for those that
// may start a child which shares this memory.
#include "posix/endings.h"

#include <sys/syscall.h>

#include <cstdarg>
#include <cstddef>
#include <span>

#include "posix/descriptor_buffers.h"
#include "posix/descriptors.h"
#include "posix/stand_ins.h"
#include "posix/stream_buffers.h"

namespace headrace::posix {

void save_all(const char* why) noexcept {
  buffers::release_all(why);
  buffers::tell_unreported();
  streams::save_all();
}

namespace counted {
namespace {

void end_all() {
  save_all("the process ends");
}

void settle_before_program() {
  save_all("another program is executed");
}

/// Whether a system call knows of files or processes. Others are frequent: those of threads, time
/// and memory.
bool concerns_files(long number) {
  switch (number) {
    case SYS_futex:
    case SYS_gettid:
    case SYS_getpid:
    case SYS_getcpu:
    case SYS_getrandom:
    case SYS_membarrier:
    case SYS_sched_setaffinity:
    case SYS_sched_getaffinity:
    case SYS_sched_yield:
    case SYS_clock_gettime:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_mbind:
    case SYS_set_mempolicy:
    case SYS_get_mempolicy:
    case SYS_move_pages:
    case SYS_perf_event_open:
    case SYS_set_robust_list:
    case SYS_tgkill: return false;
    default: return true;
  }
}

/// What it shares with its parent is not looked at.
bool makes_process(long number) {
#ifdef SYS_vfork
  if (number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

/// The words of execl and its kin behind the first, with the null at their end.
std::size_t count_words(va_list words) {
  std::size_t count = 1;
  while (va_arg(words, char*) != nullptr) ++count;
  return count;
}

}  // namespace

void _exit(int code) {
  end_all();
  real._exit(code);
  __builtin_unreachable();
}

void _Exit(int code) noexcept {
  end_all();
  real._Exit(code);
  __builtin_unreachable();
}

void quick_exit(int code) noexcept {
  buffers::release_all("the process ends");  // its handlers save streams
  real.quick_exit(code);
  __builtin_unreachable();
}

void abort() noexcept {
  end_all();
  real.abort();
  __builtin_unreachable();
}

// These call abort inside the C library.

void __assert_fail(const char* assertion, const char* file, unsigned line,
                   const char* function) noexcept {
  end_all();
  real.__assert_fail(assertion, file, line, function);
  __builtin_unreachable();
}

void __assert_perror_fail(int error, const char* file, unsigned line,
                          const char* function) noexcept {
  end_all();
  real.__assert_perror_fail(error, file, line, function);
  __builtin_unreachable();
}

void __assert(const char* assertion, const char* file, int line) noexcept {
  end_all();
  real.__assert(assertion, file, line);
  __builtin_unreachable();
}

int execve(const char* path, char* const* words, char* const* variables) noexcept {
  settle_before_program();
  return real.execve(path, words, variables);
}

int execv(const char* path, char* const* words) noexcept {
  settle_before_program();
  return real.execv(path, words);
}

int execvp(const char* file, char* const* words) noexcept {
  settle_before_program();
  return real.execvp(file, words);
}

int execvpe(const char* file, char* const* words, char* const* variables) noexcept {
  settle_before_program();
  return real.execvpe(file, words, variables);
}

int fexecve(int descriptor, char* const* words, char* const* variables) noexcept {
  settle_before_program();
  return real.fexecve(descriptor, words, variables);
}

int execveat(int directory, const char* path, char* const* words, char* const* variables,
             int flags) noexcept {
  settle_before_program();
  return real.execveat(directory, path, words, variables, flags);
}

// The words are put into an array, as the C library does.
#define HEADRACE_TAKE_WORDS(first)                                                         \
  va_list more;                                                                            \
  va_start(more, first);                                                                   \
  const std::size_t count = count_words(more);                                             \
  va_end(more);                                                                            \
  auto** const words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  words[0] = const_cast<char*>(first);                                                     \
  va_start(more, first);                                                                   \
  for (std::size_t i = 1; i <= count; ++i) words[i] = va_arg(more, char*);

int execl(const char* path, const char* first, ...) noexcept {
  HEADRACE_TAKE_WORDS(first)
  va_end(more);
  return counted::execv(path, words);
}

int execlp(const char* file, const char* first, ...) noexcept {
  HEADRACE_TAKE_WORDS(first)
  va_end(more);
  return counted::execvp(file, words);
}

int execle(const char* path, const char* first, ...) noexcept {
  HEADRACE_TAKE_WORDS(first)
  char* const* const variables = va_arg(more, char* const*);
  va_end(more);
  return counted::execve(path, words, variables);
}

// The child returns from vfork first, with this stack, and the parent afterwards: so this must be a
// jump in every build. The compiler does not know what it leads to, so it makes one.
#define HEADRACE_VFORK(name)                                                            \
  __attribute__((noinline, no_sanitize_thread, optimize("O2"))) pid_t name() noexcept { \
    expect_child_in_this_memory();                                                      \
    buffers::release_all("the program forks");                                          \
    return real.name();                                                                 \
  }

HEADRACE_VFORK(vfork)
HEADRACE_VFORK(__vfork)

pid_t _Fork() noexcept {
  buffers::release_all("the program forks");
  return real._Fork();
}

#define HEADRACE_CLONE(name)                                                               \
  int name(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept { \
    va_list more;                                                                          \
    va_start(more, argument);                                                              \
    void* const parent = va_arg(more, void*);                                              \
    void* const storage = va_arg(more, void*);                                             \
    void* const child = va_arg(more, void*);                                               \
    va_end(more);                                                                          \
    if ((flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM) expect_child_in_this_memory();    \
    buffers::release_all("the program forks");                                             \
    return real.name(function, stack, flags, argument, parent, storage, child);            \
  }

HEADRACE_CLONE(clone)
HEADRACE_CLONE(__clone)

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  buffers::settle_for_child(actions != nullptr);
  return real.posix_spawn(process, path, actions, attributes, words, variables);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  buffers::settle_for_child(actions != nullptr);
  return real.posix_spawnp(process, file, actions, attributes, words, variables);
}

int system(const char* line) {
  buffers::settle_for_child(false);
  return real.system(line);
}

FILE* popen(const char* line, const char* mode) {
  buffers::settle_for_child(false);
  return real.popen(line, mode);
}

/// Whatever the arguments are, they are passed on as words.
long syscall(long number, ...) noexcept {
  va_list more;
  va_start(more, number);
  long words[6];
  for (long& one : words) one = va_arg(more, long);
  va_end(more);
  if (makes_process(number)) expect_child_in_this_memory();
  if (buffers::any() && concerns_files(number)) {
    buffers::release_all("the program makes system calls by itself");
  }
  return real.syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace counted
}  // namespace headrace::posix
