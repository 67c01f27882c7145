/* A tool that kills rank 0 when the library has ended MPI, and whoever recorded has not yet. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = PMPI_Finalize();
  if (rank == 0) kill(getpid(), SIGKILL);
  return code;
}
