/* An object whose constructor takes a while and asks whether MPI runs. */
#include <mpi.h>
#include <unistd.h>

__attribute__((constructor)) static void ask(void) {
  int flag;
  usleep(300000);
  MPI_Initialized(&flag);
}
