/* Measures calls of traced_steps before MPI_Init, when nothing is traced, and as many after it.
   Between them it calls a function that is never traced, so that it knows by how much the
   processor's speed changed. Prints nanoseconds of a call: the least and the mean (of CPU time) of
   those that are not traced, at the speed of the others, and for how long the thread had no core in
   the mean of the others. */

#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "traced_library.h"

enum { CALLS = 2000, STEPS = 500 };

static double sum = 0;

struct times {
  double least, mean, waited;  ///< of a call, in ns
};
struct measured {
  struct times steps, plain;
};

static double now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

/// Computes what traced_steps computes by itself.
__attribute__((noinline)) static double plain(long steps) {
  unsigned long own[4] = {1, 2, 3, 4};
  for (long i = 0; i < steps * 60; ++i) {
    for (int n = 0; n < 4; ++n) own[n] = (own[n] ^ own[n] << 13) + (own[n] >> 7);
  }
  return (double)(own[0] ^ own[1] ^ own[2] ^ own[3]);
}

/// Calls it by name: tracing does not see calls by a pointer.
static double steps(long count) {
  return traced_steps(count);
}

static void add(struct times* times, double (*function)(long)) {
  const double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
  const double begin = now_ns(CLOCK_MONOTONIC);
  sum += function(STEPS);
  const double took = now_ns(CLOCK_MONOTONIC) - begin;
  const double used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  if (took < times->least) times->least = took;
  times->mean += used / CALLS;
  if (took > used) times->waited += (took - used) / CALLS;
}

static struct measured measure(void) {
  struct measured all = {{1e18, 0, 0}, {1e18, 0, 0}};
  for (int i = 0; i < CALLS; ++i) {
    add(&all.plain, plain);
    add(&all.steps, steps);
  }
  return all;
}

int main(int argc, char** argv) {
  const struct measured before = measure();
  MPI_Init(&argc, &argv);
  const struct measured after = measure();
  MPI_Finalize();
  printf("calls traced_steps %d\ncalls traced_step %d\n", CALLS, CALLS * STEPS);
  printf("ns %.1f %.1f %.1f, sum %g\n", before.steps.least * after.plain.least / before.plain.least,
         before.steps.mean * after.plain.mean / before.plain.mean, after.steps.waited, sum);
  printf("ok\n");
  return 0;
}
