/* More regions than are kept apart: 1500, one MPI_Barrier in each. */
#include <mpi.h>
#include <stdio.h>

#include "headrace.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 1500; i++) {
    char label[32];
    snprintf(label, sizeof label, "phase %d", i);
    headrace_region_begin(i, label);
    MPI_Barrier(MPI_COMM_WORLD);
    headrace_region_end(i);
  }
  MPI_Finalize();
  return 0;
}
