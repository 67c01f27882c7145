#pragma once

#include <mpi.h>
#include <stdio.h>

static int failures;

/// Counts and names what does not hold; the program goes on, so that other ranks are not left
/// alone.
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      failures++;                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

/// Ends MPI; says " No Errors" once when no check failed on any rank. Returns the exit code.
static int finish(void) {
  int all = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf(" No Errors\n");
  MPI_Finalize();
  return all != 0;
}
