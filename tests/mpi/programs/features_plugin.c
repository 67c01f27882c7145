// A part of a program that is loaded while it runs, and calls by large counts where the MPI has
// them.
#include <mpi.h>

int plugin_sum(int value, int calls) {
  int sum = 0;
  for (int i = 0; i < calls; i++) {
#if MPI_VERSION >= 4
    MPI_Allreduce_c(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#else
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
  }
  return sum;
}

int plugin_write(MPI_File file, const void* memory, int count) {
#if MPI_VERSION >= 4
  return MPI_File_write_at_c(file, 0, memory, count, MPI_BYTE, MPI_STATUS_IGNORE);
#else
  return MPI_File_write_at(file, 0, memory, count, MPI_BYTE, MPI_STATUS_IGNORE);
#endif
}
