// What the engine does not do yet must fail clearly on its files and leave them unharmed. Without
// the layer there is nothing to see. A function that the engine learns leaves this list.
#include <string.h>

#include "exercise.h"

enum { bytes_before = 40 };

static MPI_File prepared_file(Context* context, unsigned char* bytes) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  fill_pattern(bytes, bytes_before, context->rank, 0);
  CHECK_OK(context, MPI_File_write_at_all(file, bytes_before * context->rank, bytes, bytes_before,
                                          MPI_BYTE, MPI_STATUS_IGNORE));
  return file;
}

static void check_unharmed(Context* context, MPI_File* file, const unsigned char* bytes) {
  unsigned char back[bytes_before];
  MPI_Offset size = -1, position = -1;
  CHECK_OK(context, MPI_File_read_at_all(*file, bytes_before * context->rank, back, bytes_before,
                                         MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(back, bytes, bytes_before) == 0);
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_get_size(*file, &size));
  CHECK_EQUAL(context, size, bytes_before * context->size);
  CHECK_OK(context, MPI_File_get_position(*file, &position));
  CHECK_EQUAL(context, position, 0);
  close_file(context, file);
}

#define UNSUPPORTED(call) CHECK_CLASS(context, call, MPI_ERR_UNSUPPORTED_OPERATION)

static void nonblocking(Context* context) {
  unsigned char bytes[bytes_before];
  MPI_File file = prepared_file(context, bytes);
  if (context->layered) {
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    UNSUPPORTED(MPI_File_iwrite(file, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iread(file, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iread_at(file, 0, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iwrite_all(file, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iread_all(file, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iwrite_at_all(file, 0, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iread_at_all(file, 0, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iwrite_shared(file, &value, 1, MPI_INT, &request));
#if MPI_VERSION >= 4
    UNSUPPORTED(MPI_File_iwrite_c(file, &value, 1, MPI_INT, &request));
    UNSUPPORTED(MPI_File_iread_at_all_c(file, 0, &value, 1, MPI_INT, &request));
#endif
    CHECK(context, request == MPI_REQUEST_NULL);
  }
  check_unharmed(context, &file, bytes);
}

static void shared_pointer(Context* context) {
  unsigned char bytes[bytes_before];
  MPI_File file = prepared_file(context, bytes);
  if (context->layered) {
    MPI_Status status;
    MPI_Offset position = 0;
    int value = 0;
    UNSUPPORTED(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
    UNSUPPORTED(MPI_File_read_shared(file, &value, 1, MPI_INT, &status));
    UNSUPPORTED(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
    UNSUPPORTED(MPI_File_read_ordered(file, &value, 1, MPI_INT, &status));
    UNSUPPORTED(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    UNSUPPORTED(MPI_File_get_position_shared(file, &position));
#if MPI_VERSION >= 4
    UNSUPPORTED(MPI_File_write_ordered_c(file, &value, 1, MPI_INT, &status));
#endif
  }
  check_unharmed(context, &file, bytes);
}

static void split_collectives(Context* context) {
  unsigned char bytes[bytes_before];
  MPI_File file = prepared_file(context, bytes);
  if (context->layered) {
    MPI_Status status;
    int value = 0;
    UNSUPPORTED(MPI_File_write_all_begin(file, &value, 1, MPI_INT));
    UNSUPPORTED(MPI_File_write_all_end(file, &value, &status));
    UNSUPPORTED(MPI_File_read_at_all_begin(file, 0, &value, 1, MPI_INT));
    UNSUPPORTED(MPI_File_read_at_all_end(file, &value, &status));
    UNSUPPORTED(MPI_File_write_ordered_begin(file, &value, 1, MPI_INT));
    UNSUPPORTED(MPI_File_write_ordered_end(file, &value, &status));
  }
  check_unharmed(context, &file, bytes);
}

static void atomicity(Context* context) {
  unsigned char bytes[bytes_before];
  MPI_File file = prepared_file(context, bytes);
  int flag = -1;
  CHECK_OK(context, MPI_File_set_atomicity(file, 0));
  CHECK_OK(context, MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(context, flag, 0);
  if (context->layered) UNSUPPORTED(MPI_File_set_atomicity(file, 1));
  check_unharmed(context, &file, bytes);
}

static void representations(Context* context) {
  unsigned char bytes[bytes_before];
  MPI_File file = prepared_file(context, bytes);
  MPI_Aint extent = 0;
  CHECK_OK(context, MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK_EQUAL(context, extent, 8);
  CHECK_CLASS(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such one", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  if (context->layered) {
    CHECK_CLASS(context, MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
  }
  check_unharmed(context, &file, bytes);
}

const Case unsupported_cases[] = {
    {"unsupported_nonblocking", nonblocking},        {"unsupported_shared_pointer", shared_pointer},
    {"unsupported_split", split_collectives},        {"unsupported_atomicity", atomicity},
    {"unsupported_representation", representations}, {NULL, NULL}};
