// A file cannot be opened over an intercommunicator: an error, and life goes on.  intercomm
// DIRECTORY
#include <stdio.h>

#include "harness.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, all_wrong = 0;
  char path[1200];
  MPI_Comm half, between;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  snprintf(path, sizeof path, "%s/intercomm.data", argv[1]);
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(between, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) wrong = 1;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %s\n", all_wrong ? "opened" : "refused", class_name(code));
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
