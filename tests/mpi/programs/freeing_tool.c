/* A tool that frees the program's communicators in a function of its own, which no recorder takes
 * for the program. */
#include <mpi.h>

static __attribute__((noinline)) int free_it(MPI_Comm* comm) {
  const int code = PMPI_Comm_free(comm);
  __asm__ volatile("");
  return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  const int code = free_it(comm);
  __asm__ volatile("");
  return code;
}

int MPI_Finalize(void) {
  const int code = PMPI_Finalize();
  __asm__ volatile("");
  return code;
}
