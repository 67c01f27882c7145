// A program that is linked to MPI, to see to which.
#include <mpi.h>

int main(void) {
  int is_running = 0;
  return MPI_Initialized(&is_running);
}
