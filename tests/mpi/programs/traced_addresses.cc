// Compares addresses of traced functions, which must be the same in the program, its library and
// the loader's answer.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "traced_library.h"

namespace {

long calls = 0;

void check(bool is_right, const char* what) {
  if (!is_right) printf("wrong: %s\n", what);
}

void add(void*) {
  ++calls;
}

void (*const table[])(void (*)(void*), void*) = {traced_calls_back};

void compare() {
  void* const found = dlsym(RTLD_DEFAULT, "traced_calls_back");
  check(found == reinterpret_cast<void*>(traced_calls_back), "dlsym");
  check(found == reinterpret_cast<void*>(table[0]), "a table");
  void (*volatile pointer)(void (*)(void*), void*) = traced_calls_back;
  check(pointer == table[0], "a pointer");
  pointer(add, nullptr);
  table[0](add, nullptr);
  traced_calls_back(add, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  compare();
  MPI_Init(&argc, &argv);
  const void* const before = reinterpret_cast<void*>(traced_calls_back);
  for (int i = 0; i < 10; ++i) compare();
  for (int i = 0; i < 100; ++i) traced_nothing();
  check(traced_pair(1.5, 7).n == 21, "a call");
  check(before == reinterpret_cast<void*>(traced_calls_back), "the address while it is traced");
  MPI_Finalize();
  compare();
  check(calls == 36, "calls");
  printf("calls traced_nothing 100\ncalls traced_pair 1\nok\n");
  return 0;
}
