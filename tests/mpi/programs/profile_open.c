// Opens files, as a test of profiles needs it: without memory on one rank, or many of them.
//
//   profile_open DIRECTORY memory RANK   all open one file; RANK gets no memory at the first open
//                                        of the size that reading a profile of 40 KB takes
//   profile_open DIRECTORY many COUNT    each rank opens COUNT files of its own
//
// Prints "opened TIMES failed TIMES refused TIMES" on each rank: refused are requests for memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

// Of base/trusted_file.h.
enum { LARGEST_TRUSTED = 65536 };

static volatile int is_armed, refused;

extern void* __libc_malloc(size_t size);

static int is_of_layer(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && strstr(info.dli_fname, "libheadrace") != NULL;
}

// Found before the C library's, also by the layer.
__attribute__((visibility("default"))) void* malloc(size_t size) {
  if (is_armed && size >= LARGEST_TRUSTED && is_of_layer(__builtin_return_address(0))) {
    ++refused;
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}

static int open_and_close(MPI_Comm ranks, const char* name) {
  MPI_File file;
  if (MPI_File_open(ranks, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
      MPI_SUCCESS) {
    return 0;
  }
  check(MPI_File_close(&file) == MPI_SUCCESS, "close");
  return 1;
}

int main(int argc, char** argv) {
  int rank, opened = 0, failed = 0;
  char name[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int number = atoi(argv[3]);
  if (strcmp(argv[2], "memory") == 0) {
    snprintf(name, sizeof name, "%s/file", argv[1]);
    for (int i = 0; i < 2; ++i) {
      is_armed = i == 0 && rank == number;
      const int is_open = open_and_close(MPI_COMM_WORLD, name);
      is_armed = 0;
      opened += is_open;
      failed += !is_open;
    }
  } else {
    for (int i = 0; i < number; ++i) {
      snprintf(name, sizeof name, "%s/file.%d.%d", argv[1], rank, i);
      opened += open_and_close(MPI_COMM_SELF, name);
    }
  }
  printf("opened %d failed %d refused %d\n", opened, failed, refused > 0);
  MPI_Finalize();
  return 0;
}
