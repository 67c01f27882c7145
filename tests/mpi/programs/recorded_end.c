/* 1000 exchanges of ranks 0 and 1; then rank 1 ends without MPI_Finalize, while the others wait for
 * it in a barrier.
 *
 *     recorded_end kill | abort | late | term    late: it calls MPI_Abort half a second later
 *     recorded_end exit                          all ranks leave together
 *     recorded_end hold FILE                     rank 1 goes on once there is the file
 *     recorded_end code                          all ends well, and each rank's exit code is 3
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abort_job.h"

int main(int argc, char** argv) {
  int rank, out = 1, in;
  const char* const way = argc > 1 ? argv[1] : "kill";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1000 && rank < 2; i++) {
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* all exchanges have returned */
  if (strcmp(way, "exit") == 0) _exit(0);
  if (rank == 1) {
    if (strcmp(way, "kill") == 0) raise(SIGKILL);
    if (strcmp(way, "term") == 0) raise(SIGTERM);
    while (strcmp(way, "hold") == 0 && access(argv[2], F_OK) != 0) usleep(1000);
    if (strcmp(way, "late") == 0) usleep(500000);
    if (strcmp(way, "abort") == 0 || strcmp(way, "late") == 0) abort_job(3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return strcmp(way, "code") == 0 ? 3 : 0;
}
