// A write or read that fails in the file system, and then one with wrong arguments.
//
//   failing_access WAY FILE [HINT=VALUE]
//
// WAY is "write" or "read", each also with "_all", "_i" (nonblocking) or "_split" behind it, or
// "set" (a write, with the hint given by MPI_File_set_info), or "wrong" (only the wrong arguments).
// /dev/full fails each write, the start of /proc/self/mem each read. Ranks that go on print "went
// on".
#include <stdio.h>
#include <string.h>

#include "check.h"

static int move(MPI_File file, const char* way, int* data) {
  const int writes = strncmp(way, "read", 4) != 0;
  if (strstr(way, "_all")) {
    return writes ? MPI_File_write_at_all(file, 0, data, 1, MPI_INT, MPI_STATUS_IGNORE)
                  : MPI_File_read_at_all(file, 0, data, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  if (strstr(way, "_i")) {
    MPI_Request request;
    const int code = writes ? MPI_File_iwrite_at(file, 0, data, 1, MPI_INT, &request)
                            : MPI_File_iread_at(file, 0, data, 1, MPI_INT, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  if (strstr(way, "_split")) {
    const int code = writes ? MPI_File_write_at_all_begin(file, 0, data, 1, MPI_INT)
                            : MPI_File_read_at_all_begin(file, 0, data, 1, MPI_INT);
    if (code != MPI_SUCCESS) return code;
    return writes ? MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE)
                  : MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
  }
  return writes ? MPI_File_write_at(file, 0, data, 1, MPI_INT, MPI_STATUS_IGNORE)
                : MPI_File_read_at(file, 0, data, 1, MPI_INT, MPI_STATUS_IGNORE);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check(count >= 3, "start without WAY FILE");
  const char* const way = arguments[1];
  int data = 7;
  MPI_Info info;
  MPI_Info_create(&info);
  char* const value = count > 3 ? strchr(arguments[3], '=') : NULL;
  if (value != NULL) {
    *value = 0;
    MPI_Info_set(info, arguments[3], value + 1);
  }
  const int sets = strcmp(way, "set") == 0;
  const int mode = strncmp(way, "read", 4) == 0 ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, arguments[2], mode, sets ? MPI_INFO_NULL : info, &file) ==
            MPI_SUCCESS,
        "open the file");
  if (sets) MPI_File_set_info(file, info);
  if (strcmp(way, "wrong") != 0) check(move(file, way, &data) != MPI_SUCCESS, "fail");
  check(MPI_File_write_at(file, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS, "fail");
  printf("went on\n");
  MPI_File_close(&file);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
