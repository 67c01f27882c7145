/* gathered CALLS BYTES: so many times MPI_Gatherv to rank 1 and MPI_Scatterv from it, of as many
 * bytes and the rank's number; `right` from each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1;
  enum { ROOT = 1 };
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* const counts = malloc(2 * size * sizeof(int));
  int* const places = counts + size;
  int all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = bytes + i;
    places[i] = all;
    all += counts[i];
  }
  unsigned char* const mine = malloc(counts[rank]);
  unsigned char* const whole = malloc(all);
  int right = 1;
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < counts[rank]; ++i) mine[i] = (unsigned char)(rank * 7 + i + call);
    MPI_Gatherv(mine, counts[rank], MPI_BYTE, whole, counts, places, MPI_BYTE, ROOT,
                MPI_COMM_WORLD);
    for (int from = 0; rank == ROOT && from < size; ++from) {
      for (int i = 0; i < counts[from]; ++i) {
        right = right && whole[places[from] + i] == (unsigned char)(from * 7 + i + call);
        whole[places[from] + i] += 1;
      }
    }
    MPI_Scatterv(whole, counts, places, MPI_BYTE, mine, counts[rank], MPI_BYTE, ROOT,
                 MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; ++i) {
      right = right && mine[i] == (unsigned char)(rank * 7 + i + call + 1);
    }
  }
  if (right) printf("right\n");
  free(counts);
  free(mine);
  free(whole);
  MPI_Finalize();
  return !right;
}
