/* Writes to a file that the MPI library opens itself, by the name that it is given. Exit code 3:
 * the library does not know such names. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_File file;
  int data[10] = {0}, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS) {
    MPI_Finalize();
    return 3;
  }
  MPI_File_write_at(file, 40 * rank, data, 10, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_at_all(file, 40 * rank, data, 10, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
