// Says whether this process was given privileges by its file (AT_SECURE), and whether the layer
// acts in it: "privileged layer", "ordinary plain", ...
//
//   privileged PATH
#include <mpi.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_File file;
  MPI_Info info;
  int code =
      MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_File_get_info(file, &info);
  char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  MPI_Info_get(info, "headrace_write_taken", MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  printf("%s %s\n", getauxval(AT_SECURE) ? "privileged" : "ordinary", found ? "layer" : "plain");
  MPI_Finalize();
  return 0;
}
