/* Measures calls of traced_steps before MPI_Init, when nothing is traced, and makes as many after
   it. Prints nanoseconds of a call: the least and the mean (of CPU time) of those that are not
   traced, and for how long the thread had no core in the mean of the others. */

#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "traced_library.h"

enum { CALLS = 2000, STEPS = 500 };

static double sum = 0;

static double now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

static double least_ns(void) {
  double least = 1e18;
  for (int i = 0; i < CALLS; ++i) {
    const double begin = now_ns(CLOCK_MONOTONIC);
    sum += traced_steps(STEPS);
    const double took = now_ns(CLOCK_MONOTONIC) - begin;
    if (took < least) least = took;
  }
  return least;
}

int main(int argc, char** argv) {
  double before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  const double least = least_ns();
  const double untraced = now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  MPI_Init(&argc, &argv);
  before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  const double begin = now_ns(CLOCK_MONOTONIC);
  least_ns();
  const double waited = now_ns(CLOCK_MONOTONIC) - begin - now_ns(CLOCK_THREAD_CPUTIME_ID) + before;
  MPI_Finalize();
  printf("calls traced_steps %d\ncalls traced_step %d\n", CALLS, CALLS * STEPS);
  printf("ns %.1f %.1f %.1f, sum %g\n", least, untraced / CALLS, waited / CALLS, sum);
  printf("ok\n");
  return 0;
}
