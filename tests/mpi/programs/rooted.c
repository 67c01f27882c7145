/* rooted OPERATION CALLS BYTES: so many times MPI_Bcast (bcast) or MPI_Reduce (reduce) of as many
 * bytes, each rank the root in turn; `right` from each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int reduces = strcmp(argv[1], "reduce") == 0;
  const int calls = atoi(argv[2]);
  const int count = atoi(argv[3]) / (int)sizeof(int);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* const data = malloc(count * sizeof(int));
  int* const sums = malloc(count * sizeof(int));
  int right = 1;
  for (int call = 0; call < calls; ++call) {
    const int root = call % size;
    for (int i = 0; i < count; ++i) {
      data[i] = reduces || rank == root ? call * 7 + i : -1;
      sums[i] = -1;
    }
    if (reduces) {
      MPI_Reduce(data, sums, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; ++i) {
      right = right && data[i] == call * 7 + i;
      if (reduces && rank == root) right = right && sums[i] == size * (call * 7 + i);
    }
  }
  if (right) printf("right\n");
  free(data);
  free(sums);
  MPI_Finalize();
  return !right;
}
