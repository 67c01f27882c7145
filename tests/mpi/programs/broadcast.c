/* broadcast CALLS BYTES: so many times MPI_Bcast of as many bytes, from each rank in turn; `right`
 * from each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* const data = malloc(bytes);
  int right = 1;
  for (int call = 0; call < calls; ++call) {
    const int root = call % size;
    for (int i = 0; i < bytes; ++i) data[i] = (unsigned char)(rank == root ? call * 7 + i : 255);
    MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) right = right && data[i] == (unsigned char)(call * 7 + i);
  }
  if (right) printf("right\n");
  free(data);
  MPI_Finalize();
  return !right;
}
