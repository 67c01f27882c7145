// Functions of the engine and the C library that are counted where they are called. The linker
// leads calls of NAME to __wrap_NAME (see CMakeLists.txt); C++ functions go by their mangled names.
// Where one of them is renamed or gets other parameters, linking fails for want of its __real_
// name: change both names here and in CMakeLists.txt.

#include <sys/syscall.h>

#include <cstdarg>

#include "count/counters.h"
#include "view/copy.h"

#define HEADRACE_COPY_RUN                                                                 \
  "_ZN8headrace4view8copy_runENS_9DirectionENS0_6WindowERKNS0_10StridedRunEPSt4byteRNS0_" \
  "6CursorENS0_6StoresE"
#define HEADRACE_SKIP_LIST "_ZN8headrace4view6Cursor9skip_listEll"
#define HEADRACE_NODE_CORES "_ZN8headrace4topo10node_coresEv"

namespace headrace::count {
namespace {

thread_local bool sleeps_are_counted = false;

}  // namespace

void watch_sleeps(bool are_counted) {
  sleeps_are_counted = are_counted;
}

/// For the system call by which a rank sleeps and wakes others.
void note_futex() {
  if (sleeps_are_counted) add(kSleeps, 1);
}

void real_copy_run(Direction direction, view::Window window, const view::StridedRun& run,
                   std::byte* memory, view::Cursor& memory_cursor,
                   view::Stores stores) asm("__real_" HEADRACE_COPY_RUN);
void counted_copy_run(Direction direction, view::Window window, const view::StridedRun& run,
                      std::byte* memory, view::Cursor& memory_cursor,
                      view::Stores stores) asm("__wrap_" HEADRACE_COPY_RUN);
void counted_copy_run(Direction direction, view::Window window, const view::StridedRun& run,
                      std::byte* memory, view::Cursor& memory_cursor, view::Stores stores) {
  add(kCopies, 1);
  add(kBytesCopied, run.bytes());
  real_copy_run(direction, window, run, memory, memory_cursor, stores);
}

void real_skip_list(view::Cursor* cursor, std::int64_t count,
                    ByteCount bytes) asm("__real_" HEADRACE_SKIP_LIST);
void counted_skip_list(view::Cursor* cursor, std::int64_t count,
                       ByteCount bytes) asm("__wrap_" HEADRACE_SKIP_LIST);
/// view::copy_list, which is compiled into its callers, is the only one that steps so: over the
/// pieces that it has moved.
void counted_skip_list(view::Cursor* cursor, std::int64_t count, ByteCount bytes) {
  add(kCopies, 1);
  add(kBytesCopied, bytes);
  real_skip_list(cursor, count, bytes);
}

int real_node_cores() asm("__real_" HEADRACE_NODE_CORES);
int same_node_cores() asm("__wrap_" HEADRACE_NODE_CORES);
/// The same on every machine: paths are chosen by it.
int same_node_cores() {
  constexpr int kCores = 8;
  return real_node_cores() > 0 ? kCores : 1;
}

}  // namespace headrace::count

extern "C" {

long __real_syscall(long, long, long, long, long, long, long);

long __wrap_syscall(long number, ...) {
  if (number == SYS_futex) headrace::count::note_futex();
  std::va_list arguments;
  va_start(arguments, number);
  long words[6];
  for (long& word : words) word = va_arg(arguments, long);
  va_end(arguments);
  return __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"
