// Opening, modes, hints, deletion, and which processes a file belongs to.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

static void modes(Context* context) {
  const int access[] = {MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_WRONLY, MPI_MODE_RDONLY,
                        MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN};
  for (size_t i = 0; i < sizeof access / sizeof *access; i++) {
    MPI_File file = open_file(context, context->comm, "data", access[i]);
    int amode = -1, relation = -1;
    CHECK_OK(context, MPI_File_get_amode(file, &amode));
    CHECK_EQUAL(context, amode, access[i]);
    MPI_Group files = MPI_GROUP_NULL, ours = MPI_GROUP_NULL;
    CHECK_OK(context, MPI_File_get_group(file, &files));
    MPI_Comm_group(context->comm, &ours);
    MPI_Group_compare(files, ours, &relation);
    CHECK_EQUAL(context, relation, MPI_IDENT);
    MPI_Group_free(&files);
    MPI_Group_free(&ours);
    close_file(context, &file);
  }
}

static void create_exclusive(Context* context) {
  MPI_File file =
      open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
  int value = context->rank;
  CHECK_OK(context,
           MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  close_file(context, &file);
  int code = MPI_File_open(context->comm, path_of(context, "data"),
                           MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  CHECK_CLASS(context, code, MPI_ERR_FILE_EXISTS);
}

static void append(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 100, 'a');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_WRONLY | MPI_MODE_APPEND);
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 100);
  char byte = 'b';
  CHECK_OK(context,
           MPI_File_write_at(file, 100 + context->rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  close_file(context, &file);
}

static void delete_on_close(Context* context) {
  MPI_File file = open_file(context, context->comm, "data",
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), 0);
  MPI_Barrier(context->comm);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), -1);
}

static void delete_by_name(Context* context) {
  if (context->rank != 0) return;
  fill_file(context, "data", 10, 'x');
  CHECK_OK(context, MPI_File_delete(path_of(context, "data"), MPI_INFO_NULL));
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), -1);
  CHECK_CLASS(context, MPI_File_delete(path_of(context, "data"), MPI_INFO_NULL),
              MPI_ERR_NO_SUCH_FILE);
}

static void hints(Context* context) {
  MPI_Info info, returned = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "1048576");
  MPI_Info_set(info, "no_such_hint_anywhere", "1");
  MPI_File file;
  CHECK_OK(context, MPI_File_open(context->comm, path_of(context, "data"),
                                  MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  CHECK_EQUAL(context, carried(file), context->layered);
  MPI_Info_set(info, "striping_unit", "65536");
  CHECK_OK(context, MPI_File_set_info(file, info));
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
  MPI_Info_free(&info);
  CHECK_OK(context, MPI_File_get_info(file, &returned));
  CHECK(context, returned != MPI_INFO_NULL);
  if (returned != MPI_INFO_NULL) MPI_Info_free(&returned);
  if (context->layered) {
    char value[256];
    info_value(file, "headrace_write_reason", value, sizeof value);
    CHECK(context, value[0] != 0);
    info_value(file, "no_such_hint_anywhere", value, sizeof value);
    CHECK(context, value[0] == 0);
  }
  close_file(context, &file);
}

static void self(Context* context) {
  char name[32];
  snprintf(name, sizeof name, "data%d", context->rank);
  MPI_File file = open_file(context, MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  unsigned char out[1000], in[1000];
  fill_pattern(out, sizeof out, context->rank, 0);
  CHECK_OK(context, MPI_File_write_all(file, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at(file, 0, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(in, out, sizeof out) == 0);
  close_file(context, &file);
}

// Odd and even ranks each have a file of their own, at the same time, ranks in reverse.
static void subcommunicators(Context* context) {
  MPI_Comm half;
  MPI_Comm_split(context->comm, context->rank % 2, -context->rank, &half);
  int rank, size;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  MPI_File file =
      open_file(context, half, context->rank % 2 ? "odd" : "even", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Comm_free(&half);  // the file must not need it any more
  MPI_Datatype filetype;
  MPI_Type_vector(10, 1, size, MPI_INT, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 4 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  int out[10], in[10];
  for (int i = 0; i < 10; i++) out[i] = 1000 * context->rank + i;
  CHECK_OK(context, MPI_File_write_all(file, out, 10, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at_all(file, 0, in, 10, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(in, out, sizeof out) == 0);
  close_file(context, &file);
}

// One after another, and many at a time: neither may run out of communicators or descriptors.
static void many_opens(Context* context) {
  for (int i = 0; i < 12; i++) {
    MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context,
             MPI_File_write_at_all(file, 4 * context->rank, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
    close_file(context, &file);
  }
  MPI_File files[12];
  for (int i = 0; i < 12; i++) {
    files[i] = open_file(context, i % 3 ? context->comm : MPI_COMM_SELF, "data", MPI_MODE_RDWR);
  }
  for (int i = 0; i < 12; i++) close_file(context, &files[(i * 5) % 12]);
}

const Case open_cases[] = {{"open_modes", modes},
                           {"open_exclusive", create_exclusive},
                           {"open_append", append},
                           {"open_delete_on_close", delete_on_close},
                           {"open_delete", delete_by_name},
                           {"open_hints", hints},
                           {"open_self", self},
                           {"open_subcommunicators", subcommunicators},
                           {"open_many", many_opens},
                           {NULL, NULL}};
