#include "fault_limits.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static char filled[256];

static void limit(int what, rlim_t value) {
  struct rlimit limit;
  getrlimit(what, &limit);
  limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
  if (setrlimit(what, &limit) != 0) perror("setrlimit");
}

static long descriptors_in_use(void) {
  long last = 0;
  for (int i = 0; i < 4096; i++) last = fcntl(i, F_GETFD) >= 0 ? i : last;
  return last + 1;
}

static long addresses_in_use(void) {
  long pages = 0;
  FILE* stream = fopen("/proc/self/statm", "r");
  if (!stream || fscanf(stream, "%ld", &pages) != 1) perror("/proc/self/statm");
  if (stream) fclose(stream);
  return pages * sysconf(_SC_PAGESIZE);
}

static void fill(const char* path) {
  static char block[65536];
  snprintf(filled, sizeof filled, "%s", path);
  int descriptor = open(path, O_WRONLY | O_CREAT, 0600);
  for (size_t step = sizeof block; step > 0; step /= 2) {
    while (write(descriptor, block, step) > 0) continue;
  }
  close(descriptor);
}

void take_away(const char* text, int rank) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", text);
  for (char* word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
    char* value = strchr(word, '=');
    *value++ = 0;
    if (strcmp(word, "nofile") == 0) {
      limit(RLIMIT_NOFILE, (rlim_t)(descriptors_in_use() + atol(value)));
    }
    if (strcmp(word, "nproc") == 0) limit(RLIMIT_NPROC, (rlim_t)atol(value));
    if (strcmp(word, "memory") == 0) limit(RLIMIT_AS, (rlim_t)(addresses_in_use() + atol(value)));
    if (strcmp(word, "dumpable") == 0) prctl(PR_SET_DUMPABLE, atoi(value), 0, 0, 0);
    if (strcmp(word, "fill") == 0 && rank == 0) fill(value);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void give_back(void) {
  limit(RLIMIT_NOFILE, RLIM_INFINITY);
  limit(RLIMIT_NPROC, RLIM_INFINITY);
  limit(RLIMIT_AS, RLIM_INFINITY);
  if (filled[0]) unlink(filled);
}
