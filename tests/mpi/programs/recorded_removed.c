/* Calls each procedure that MPI-3 removed once, if the library has them, and says what the
 * datatypes are like. */
#include <stdio.h>

#include "removed.h"

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

static void call(void) {
  MPI_Aint address = 0, extent = 0, low = 0, high = 0, place = 8;
  MPI_Errhandler handler;
  MPI_Datatype made[3], of = MPI_INT;
  int length = 2;
  old_address(&length, &address);
  old_create_handler(handle, &handler);
  old_set_handler(MPI_COMM_SELF, handler);
  old_get_handler(MPI_COMM_SELF, &handler);
  old_hvector(3, 1, 12, MPI_INT, &made[0]);
  old_hindexed(1, &length, &place, MPI_INT, &made[1]);
  old_struct(1, &length, &place, &of, &made[2]);
  old_extent(made[0], &extent);
  old_lb(made[1], &low);
  old_ub(made[2], &high);
  printf("address %d, extent %ld, bounds %ld %ld\n", address != 0, (long)extent, (long)low,
         (long)high);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (old_set_handler != NULL) call();
  MPI_Finalize();
  return 0;
}
