// Writes a file by a collective call and finalizes without closing it.  left_open DIRECTORY
#include <stdio.h>

#include "harness.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, values[500];
  MPI_File file;
  MPI_Datatype filetype;
  char path[1200];
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 500; i++) values[i] = 1000 * rank + i;
  snprintf(path, sizeof path, "%s/left_open.data", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Type_vector(100, 5, 5 * size, MPI_INT, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, 20 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL);
  int code = MPI_File_write_all(file, values, 500, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Type_free(&filetype);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", code == MPI_SUCCESS ? "ok" : "failed");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
