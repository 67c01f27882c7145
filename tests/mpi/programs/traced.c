// What tool.c counts: three opens, six collective writes and reads of small pieces.  traced
// DIRECTORY
#include <stdio.h>

#include "harness.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, all_wrong = 0, found_carried = 0;
  char path[1200];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/traced.data", argv[1]);
  for (int i = 0; i < 3; i++) {
    MPI_File file;
    wrong += MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file) != MPI_SUCCESS;
    found_carried += carried(file);
    for (int j = 0; j < 2; j++) {
      int value = 100 * rank + 10 * i + j, back = -1;
      MPI_Offset offset = 4 * (2 * rank + j);
      wrong +=
          MPI_File_write_at_all(file, offset, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS;
      wrong +=
          MPI_File_read_at_all(file, offset, &back, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS;
      wrong += back != value;
    }
    MPI_File_close(&file);
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s, %d of 3 files carried\n", all_wrong ? "failed" : "ok", found_carried);
  }
  MPI_Finalize();
  return 0;
}
