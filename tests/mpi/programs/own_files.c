// Each rank opens a file by itself: own_files NAME opens NAME.RANK with MPI_COMM_SELF.
#include <stdio.h>

#include "check.h"

int main(int count, char** arguments) {
  int rank;
  char name[4096];
  MPI_File file;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(count == 2, "start without NAME");
  snprintf(name, sizeof name, "%s.%d", arguments[1], rank);
  check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "open the file");
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
