/* Each rank sends many small messages to all before anybody receives: unexpected COUNT BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 2 ? atoi(argv[1]) : 1, bytes = argc > 2 ? atoi(argv[2]) : 1;
  char* data = calloc((size_t)bytes, 1);
  char* received = malloc((size_t)bytes);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)count * (size_t)size);
  int pending = 0;
  for (int round = 0; round < count; ++round) {
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      MPI_Isend(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[pending++]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int number = 0; number < pending; ++number) {
    MPI_Recv(received, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("received");
  MPI_Finalize();
  return 0;
}
