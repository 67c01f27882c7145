/* Some calls; then one rank, or with -1 each, comes late to MPI_Finalize.
 *
 *     recorded_pause CALLS RANK SECONDS
 *     recorded_pause CALLS RANK /FILE      once there is the file
 *     recorded_pause CALLS RANK nobody     at once, as another user
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < atoi(argv[1]); i++) MPI_Barrier(MPI_COMM_SELF);
  MPI_Barrier(MPI_COMM_WORLD);
  if (atoi(argv[2]) == rank || atoi(argv[2]) < 0) {
    if (strcmp(argv[3], "nobody") == 0) {
      if (seteuid(65534) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
    } else if (argv[3][0] == '/') {
      while (access(argv[3], F_OK) != 0) usleep(1000);
    } else {
      sleep(atoi(argv[3]));
    }
  }
  MPI_Finalize();
  return 0;
}
