// A file that cannot be opened, since there are no communicators left: no handle comes back.
//
//   no_communicators DIRECTORY
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 4000 };
static MPI_Comm copies[most];

int main(int argc, char** argv) {
  MPI_Comm first;
  MPI_File file;
  char path[1000];
  int count = 0, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/data", argv[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  while (count < most && MPI_Comm_dup(first, &copies[count]) == MPI_SUCCESS) count++;
  memset(&file, 0x55, sizeof file);
  const int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  printf("rank %d: %s, %s\n", rank, code == MPI_SUCCESS ? "opened" : "refused",
         file == MPI_FILE_NULL ? "no file" : "a file");
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  for (int i = 0; i < count; i++) MPI_Comm_free(&copies[i]);
  MPI_Comm_free(&first);
  MPI_Finalize();
  return 0;
}
