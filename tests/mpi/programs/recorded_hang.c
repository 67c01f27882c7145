/* A deadlock: rank 0 and rank 1 each wait for a message of the other. More ranks have gone on to
 * MPI_Finalize.
 *
 *     recorded_hang
 */
#include <mpi.h>

static void __attribute__((noinline)) await_message(int from) {
  int in;
  MPI_Recv(&in, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* hangs */
  __asm__ volatile("");
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; i++) MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) await_message(1 - rank);
  MPI_Finalize(); /* waits */
  return 0;
}
