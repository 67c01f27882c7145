/* More than a record keeps apart, and not much.
 *
 *     recorded_many idle                  asks for its rank
 *     recorded_many calls COUNT           asks for its rank as often, and prints the seconds it
 * took recorded_many paths COUNT           as many call paths, an MPI_Sendrecv by each, of one byte
 *     recorded_many communicators COUNT   as many communicators, one after the other: of three, one
 *                                         of a rank alone and two of all
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void exchange(MPI_Comm comm, int own, int ranks) {
  char in, out = 1;
  MPI_Sendrecv(&out, 1, MPI_BYTE, (own + 1) % ranks, 0, &in, 1, MPI_BYTE, (own + ranks - 1) % ranks,
               0, comm, MPI_STATUS_IGNORE);
}

/* The bits of `path` say by which of two places the next one is called. */
static void __attribute__((noinline)) go_on(int depth, int path) {
  if (depth == 0) {
    exchange(MPI_COMM_WORLD, rank, size);
  } else if (path % 2 == 0) {
    go_on(depth - 1, path / 2);
    __asm__ volatile("# even"); /* so that these are two places */
  } else {
    go_on(depth - 1, path / 2);
    __asm__ volatile("# odd");
  }
  __asm__ volatile("");
}

int main(int argc, char** argv) {
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2 && strcmp(argv[1], "calls") == 0) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%.9f\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; i < count; i++) {
    if (strcmp(argv[1], "paths") == 0) {
      go_on(14, i);
    } else {
      MPI_Comm made;
      const int is_alone = i % 3 == 0, is_turned = i % 3 == 1;
      MPI_Comm_split(MPI_COMM_WORLD, is_alone ? rank : 0, is_turned ? size - rank : rank, &made);
      exchange(made, is_alone ? 0 : is_turned ? size - 1 - rank : rank, is_alone ? 1 : size);
      MPI_Comm_free(&made);
    }
  }
  MPI_Finalize();
  return 0;
}
