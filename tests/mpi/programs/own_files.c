// Opens a file with MPI_COMM_SELF on each rank, or with all ranks.
//
//   own_files NAME              each rank opens NAME.RANK
//   own_files NAME together [HINT=VALUE ...]
#include <stdio.h>
#include <string.h>

#include "check.h"

int main(int count, char** arguments) {
  int rank;
  char name[4096];
  MPI_File file;
  MPI_Info info;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(count >= 2, "start without NAME");
  const int together = count > 2;
  snprintf(name, sizeof name, together ? "%s" : "%s.%d", arguments[1], rank);
  MPI_Info_create(&info);
  for (int i = 3; i < count; ++i) {
    char* const value = strchr(arguments[i], '=');
    check(value != NULL, "take a hint without =");
    *value = 0;
    MPI_Info_set(info, arguments[i], value + 1);
  }
  check(MPI_File_open(together ? MPI_COMM_WORLD : MPI_COMM_SELF, name,
                      MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file) == MPI_SUCCESS,
        "open the file");
  MPI_File_close(&file);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
