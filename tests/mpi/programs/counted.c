// A program that knows what it makes the kernel count.
//
//   counted PAGES [threads|fork|kill]
//
// Rank r touches PAGES * (r + 1) pages of fresh memory, each once, with 4 threads that end at once
// if asked so, and prints how many. fork: so does a child, which does not count. kill: then it
// waits, and kills itself.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 4 };

static void touch(size_t pages) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory =
      mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; i++) ((volatile char*)memory)[i * page] = 1;
  munmap(memory, pages * page);
}

static void* run(void* pages) {
  touch(*(size_t*)pages);
  return NULL;
}

static void touch_by_threads(size_t pages) {
  pthread_t all[threads];
  size_t part = pages / threads;
  for (int i = 0; i < threads; i++) {
    if (pthread_create(&all[i], NULL, run, &part) != 0) abort();
  }
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* way = argc > 2 ? argv[2] : "";
  const size_t pages = strtoul(argv[1], NULL, 10) * (size_t)(rank + 1);
  if (strcmp(way, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      touch(pages * 3);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  if (strcmp(way, "threads") == 0) {
    touch_by_threads(pages);
  } else {
    touch(pages);
  }
  printf("%d pages %zu\n", rank, pages);
  fflush(stdout);
  if (strcmp(way, "kill") == 0) {
    sleep(1);
    raise(SIGKILL);
  }
  MPI_Finalize();
  return 0;
}
