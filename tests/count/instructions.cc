// Hot loops on one thread, each once through headrace_counted(), whose instructions
// valgrind --tool=callgrind counts (compare.py). Prints the cases as JSON.

#include <gnu/libc-version.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "count/hot_loops.h"

/// Callgrind counts in here only, and writes down the sum at its end.
extern "C" [[gnu::noinline]] void headrace_counted(const std::function<void()>& loop) {
  loop();
  asm volatile("");  // no tail call: the function would be left before the loop runs
}

int main() {
  using headrace::count::HotLoop;
  std::printf("{\n\"made_with\": {\"compiler\": \"%s\", \"libc\": \"%s\"},\n\"cases\": [",
              __VERSION__, gnu_get_libc_version());
  const char* comma = "\n";
  for (const HotLoop& loop : headrace::count::hot_loops()) {
    loop.run();  // the first time allocates and binds symbols
    headrace_counted(loop.run);
    std::printf("%s  {\"name\": \"%s\", \"unit\": \"%s\", \"units\": %lld}", comma,
                loop.name.c_str(), loop.unit.c_str(), static_cast<long long>(loop.units));
    comma = ",\n";
  }
  std::printf("\n]\n}\n");
  return 0;
}
