// For programs that cannot go on where a step fails.
#ifndef HEADRACE_TEST_CHECK_H
#define HEADRACE_TEST_CHECK_H

#include <mpi.h>
#include <stdio.h>

static inline void check(int succeeded, const char* what) {
  if (succeeded) return;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d cannot %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
