// A part of a program that is loaded and unloaded while it runs: it writes by the large-count form,
// where the MPI has it.
#include <mpi.h>

int plugin_write(MPI_File file, const void* memory, int count) {
#if MPI_VERSION >= 4
  return MPI_File_write_at_c(file, 0, memory, count, MPI_BYTE, MPI_STATUS_IGNORE);
#else
  return MPI_File_write_at(file, 0, memory, count, MPI_BYTE, MPI_STATUS_IGNORE);
#endif
}
