// File pointers, offsets, sizes, and reads that meet the end of the file.
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

static void seek_in_view(Context* context) {
  MPI_File file = open_file(context, MPI_COMM_SELF, context->rank ? "other" : "data",
                            MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype;
  MPI_Type_vector(2, 3, 5, MPI_INT, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 10, MPI_INT, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Offset position = -1, byte = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_seek(file, 7, MPI_SEEK_SET));
  CHECK_OK(context, MPI_File_seek(file, -3, MPI_SEEK_CUR));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 4);
  const MPI_Offset places[] = {10, 14, 18, 30, 34, 38, 42, 46, 50, 62};
  for (int i = 0; i < 10; i++) {
    CHECK_OK(context, MPI_File_get_byte_offset(file, i, &byte));
    CHECK_EQUAL(context, byte, places[i]);
  }
  CHECK(context, MPI_File_seek(file, -9, MPI_SEEK_CUR) != MPI_SUCCESS);
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 4);
  int value = 77;
  CHECK_OK(context, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_seek(file, -4, MPI_SEEK_END));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 34);
  close_file(context, &file);
}

static void view_is_returned(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype contiguous, etype, filetype, types[2];
  MPI_Type_contiguous(2, MPI_INT, &contiguous);
  MPI_Type_create_resized(contiguous, 0, 12, &etype);
  MPI_Type_vector(3, 2, 4, etype, &filetype);
  MPI_Type_commit(&etype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 36, etype, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&contiguous);
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  MPI_Offset displacement = -1;
  char representation[MPI_MAX_DATAREP_STRING + 1] = "";
  CHECK_OK(context, MPI_File_get_view(file, &displacement, &types[0], &types[1], representation));
  CHECK_EQUAL(context, displacement, 36);
  CHECK(context, strcmp(representation, "native") == 0);
  const MPI_Aint extents[] = {12, 120};
  const int sizes[] = {8, 48};
  for (int i = 0; i < 2; i++) {
    MPI_Aint lower_bound, extent;
    int size, integers, addresses, datatypes, combiner;
    MPI_Type_get_extent(types[i], &lower_bound, &extent);
    MPI_Type_size(types[i], &size);
    CHECK_EQUAL(context, extent, extents[i]);
    CHECK_EQUAL(context, size, sizes[i]);
    MPI_Type_get_envelope(types[i], &integers, &addresses, &datatypes, &combiner);
    CHECK(context, combiner != MPI_COMBINER_NAMED);
    MPI_Type_free(&types[i]);
  }
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_get_view(file, &displacement, &types[0], &types[1], representation));
  CHECK(context, types[0] == MPI_INT && types[1] == MPI_INT);
  close_file(context, &file);
}

static void sizes(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset size = -1;
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 0);
  CHECK_OK(context, MPI_File_set_size(file, 5000));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 5000);
  unsigned char byte = 'z';
  CHECK_OK(context, MPI_File_write_at_all(file, 4000 + context->rank, &byte, 1, MPI_BYTE,
                                          MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_preallocate(file, 9000));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 9000);
  CHECK_OK(context, MPI_File_preallocate(file, 100));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 9000);
  CHECK_OK(context, MPI_File_sync(file));
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_set_size(file, 4500));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 4500);
  close_file(context, &file);
}

// What one rank wrote and synced, another reads after a barrier and a sync of its own.
static void sync_makes_visible(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = 500 + context->rank, seen = -1;
  int neighbour = (context->rank + 1) % context->size;
  CHECK_OK(context,
           MPI_File_write_at(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_sync(file));
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_sync(file));
  CHECK_OK(context, MPI_File_read_at(file, 4 * neighbour, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, 500 + neighbour);
  close_file(context, &file);
}

// 103 bytes in the file, more asked for: 25 whole integers and three bytes of another.
static void short_reads(Context* context, int method) {
  if (context->rank == 0) fill_file(context, "data", 103, 7);
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  for (int large = 0; large < 2; large++) {
    int values[60];
    MPI_Status status;
    int count = -2, elements = -2;
    memset(values, 0, sizeof values);
    CHECK_OK(context, MPI_File_seek(file, 3, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, method, large, 3, values, 60, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Get_elements(&status, MPI_BYTE, &elements);
    CHECK_EQUAL(context, count, 25);
    CHECK_EQUAL(context, elements, 100);
    CHECK_EQUAL(context, values[24], 0x07070707);
    CHECK_EQUAL(context, values[25], 0);
    CHECK_OK(context, MPI_File_seek(file, 100, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, method, large, 100, values, 2, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, MPI_UNDEFINED);
    CHECK_OK(context, MPI_File_seek(file, 4000, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, method, large, 4000, values, 2, MPI_INT, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(context, count, 0);
  }
  close_file(context, &file);
}

#define SHORT_CASE(name, method)               \
  static void short_##name(Context* context) { \
    short_reads(context, method);              \
  }
SHORT_CASE(plain, PLAIN)
SHORT_CASE(at, AT)
SHORT_CASE(all, ALL)
SHORT_CASE(at_all, AT_ALL)
SHORT_CASE(iplain, PLAIN | NONBLOCKING)
SHORT_CASE(iat, AT | NONBLOCKING)
SHORT_CASE(iall, ALL | NONBLOCKING)
SHORT_CASE(iat_all, AT_ALL | NONBLOCKING)
SHORT_CASE(split_all, ALL | SPLIT)
SHORT_CASE(split_at_all, AT_ALL | SPLIT)

// Through a view with holes, into memory with holes: whole pieces, then a part of one.
static void short_strided(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 46, 9);
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  MPI_Datatype filetype, resized;
  MPI_Type_vector(3, 1, 2, MPI_INT, &filetype);
  MPI_Type_create_resized(filetype, 0, 24, &resized);
  MPI_Type_commit(&resized);
  CHECK_OK(context, MPI_File_set_view(file, 4, MPI_INT, resized, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  int values[20], elements = -2;
  MPI_Datatype pair;
  MPI_Type_create_resized(MPI_INT, 0, 8, &pair);
  MPI_Type_commit(&pair);
  memset(values, 0, sizeof values);
  MPI_Status status;
  CHECK_OK(context, MPI_File_read_all(file, values, 10, pair, &status));
  MPI_Get_elements(&status, MPI_BYTE, &elements);
  CHECK_EQUAL(context, elements, 5 * 4 + 2);  // at 4, 12, 20, 28, 36, and 2 of the 4 at 44
  CHECK_EQUAL(context, values[8], 0x09090909);
  CHECK_EQUAL(context, values[9], 0);
  CHECK_EQUAL(context, values[10], 0x0909);
  CHECK_EQUAL(context, values[12], 0);
  MPI_Type_free(&resized);
  MPI_Type_free(&pair);
  close_file(context, &file);
}

const Case position_cases[] = {{"position_seek", seek_in_view},
                               {"position_get_view", view_is_returned},
                               {"position_sizes", sizes},
                               {"position_sync", sync_makes_visible},
                               {"short_plain", short_plain},
                               {"short_at", short_at},
                               {"short_all", short_all},
                               {"short_at_all", short_at_all},
                               {"short_iplain", short_iplain},
                               {"short_iat", short_iat},
                               {"short_iall", short_iall},
                               {"short_iat_all", short_iat_all},
                               {"short_split_all", short_split_all},
                               {"short_split_at_all", short_split_at_all},
                               {"short_strided", short_strided},
                               {NULL, NULL}};
