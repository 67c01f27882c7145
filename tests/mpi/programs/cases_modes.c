// Access modes that forbid something or add something.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

// In a sequential file the shared pointer is the only way.
static void sequential(Context* context) {
  MPI_File file = open_file(context, context->comm, "data",
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  int value = 100 + context->rank, amode = 0;
  MPI_Offset position;
  CHECK_OK(context, MPI_File_get_amode(file, &amode));
  CHECK_EQUAL(context, amode, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  for (int method = 0; method < METHOD_COUNT; method++) {
    MPI_Request request;
    CHECK_CLASS(context, transfer(file, 1, method, 0, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(context, start_transfer(file, 1, method, 0, 0, &value, 1, MPI_INT, &request),
                MPI_ERR_UNSUPPORTED_OPERATION);
    if (!is_collective(method)) continue;
    CHECK_CLASS(context, begin_transfer(file, 1, method, 0, 0, &value, 1, MPI_INT),
                MPI_ERR_UNSUPPORTED_OPERATION);
  }
  CHECK_CLASS(context, MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(context, MPI_File_get_position(file, &position), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(context, MPI_File_get_position_shared(file, &position),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(context, MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context,
           transfer(file, 1, ORDERED | SPLIT, 0, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  close_file(context, &file);
  MPI_Barrier(context->comm);
  file = open_file(context, context->comm, "data", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  for (int i = 0; i < 2; i++) {
    int seen = 0;
    CHECK_OK(context, MPI_File_read_ordered(file, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, value);
  }
  close_file(context, &file);
}

// A header by one view, the rest by another that begins where the shared pointer is.
static void displacement_current(Context* context) {
  MPI_File file = open_file(context, context->comm, "data",
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  char letter = (char)('a' + context->rank);
  double number = 1.5 * context->rank;
  CHECK_OK(context, MPI_File_write_ordered(file, &letter, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Offset displacement = -1;
  for (int round = 0; round < 2; round++) {
    CHECK_OK(context, MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_DOUBLE, MPI_DOUBLE,
                                        "native", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_write_ordered(file, &number, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
  }
  MPI_Datatype types[2];
  char representation[MPI_MAX_DATAREP_STRING + 1];
  CHECK_OK(context, MPI_File_get_view(file, &displacement, &types[0], &types[1], representation));
  CHECK_EQUAL(context, displacement, context->size * 9);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  size_t bytes = 0;
  unsigned char* content = read_whole(path_of(context, "data"), &bytes);
  CHECK_EQUAL(context, bytes, context->size * 17);
  for (int rank = 0; content && rank < context->size; rank++) {
    double seen[2];
    memcpy(&seen[0], content + context->size + 8 * rank, 8);
    memcpy(&seen[1], content + context->size * 9 + 8 * rank, 8);
    CHECK(context, content[rank] == 'a' + rank && seen[0] == 1.5 * rank && seen[1] == seen[0]);
  }
  free(content);
}

// Elsewhere there is no current displacement.
static void displacement_refused(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_CLASS(
      context,
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
      MPI_ERR_ARG);
  close_file(context, &file);
}

// The file goes with the last close, whoever has it open meanwhile under the same handle.
static void delete_on_close(Context* context) {
  MPI_File file = open_file(context, context->comm, "data",
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE |
                                MPI_MODE_UNIQUE_OPEN | MPI_MODE_EXCL);
  int value = context->rank, seen = -1;
  CHECK_OK(context, MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_sync(file));
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_read_at(file, 0, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, 0);
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), 0);
  MPI_Barrier(context->comm);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), -1);
}

// Ranks must agree on the mode; all of them learn that they do not.
static void modes_differ(Context* context) {
  if (context->size < 2) return;
  if (context->rank == 0) fill_file(context, "data", 10, 'm');
  MPI_Barrier(context->comm);
  const int pairs[][2] = {{MPI_MODE_RDONLY, MPI_MODE_RDWR},
                          {MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE},
                          {MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_APPEND},
                          {MPI_MODE_WRONLY, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    MPI_File file = MPI_FILE_NULL;
    int last = context->rank == context->size - 1;
    int code = MPI_File_open(context->comm, path_of(context, "data"), pairs[i][last], MPI_INFO_NULL,
                             &file);
    CHECK_CLASS(context, code, MPI_ERR_NOT_SAME);
    if (code == MPI_SUCCESS) MPI_File_close(&file);
  }
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), 0);
}

// Appending moves both pointers; other positions stay reachable.
static void append_all_pointers(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 40, 'p');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDWR | MPI_MODE_APPEND);
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 40);
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 40);
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 0);
  close_file(context, &file);
}

const Case mode_cases[] = {{"modes_sequential", sequential},
                           {"modes_displacement_current", displacement_current},
                           {"modes_displacement_refused", displacement_refused},
                           {"modes_delete_on_close", delete_on_close},
                           {"modes_differ", modes_differ},
                           {"modes_append", append_all_pointers},
                           {NULL, NULL}};
