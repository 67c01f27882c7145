// An MPI program that never opens a file. With the argument "uninitialized" it does not even start
// MPI.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "uninitialized") == 0) {
    int flag = -1;
    MPI_Initialized(&flag);
    printf("initialized: %d\n", flag);
    return 0;
  }
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0, version, subversion;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Get_version(&version, &subversion);
  if (rank == 0) printf("MPI %d.%d, %d ranks, sum %d\n", version, subversion, size, sum);
  MPI_Finalize();
  return 0;
}
