/* A tool that wraps write and, at the end, says in a file how many calls it saw. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long calls;

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) next = (ssize_t (*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  atomic_fetch_add(&calls, 1);
  return next(descriptor, from, bytes);
}

__attribute__((destructor)) static void tell(void) {
  const char* name = getenv("WRITING_TOOL");
  FILE* file = name == NULL ? NULL : fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", (long)calls);
  fclose(file);
}
