// Invalid arguments of every read and write procedure, blocking, nonblocking and split: the class
// that the standard names, through the file's error handler, once; and the file goes on working.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

static int handler_calls;
static MPI_File handler_file;

static void remember(MPI_File* file, int* code, ...) {
  (void)code;
  handler_calls++;
  handler_file = *file;
}

static MPI_File watched_file(Context* context, const char* name, int amode) {
  MPI_File file = open_file(context, context->comm, name, amode);
  MPI_Errhandler handler;
  MPI_File_create_errhandler(remember, &handler);
  CHECK_OK(context, MPI_File_set_errhandler(file, handler));
  MPI_Errhandler_free(&handler);
  return file;
}

static const int methods[] = {PLAIN,
                              AT,
                              ALL,
                              AT_ALL,
                              SHARED,
                              ORDERED,
                              PLAIN | NONBLOCKING,
                              AT | NONBLOCKING,
                              ALL | NONBLOCKING,
                              AT_ALL | NONBLOCKING,
                              SHARED | NONBLOCKING,
                              ALL | SPLIT,
                              AT_ALL | SPLIT,
                              ORDERED | SPLIT};
enum { method_count = sizeof methods / sizeof *methods };

typedef struct {
  MPI_Offset offset;
  int count;
  MPI_Datatype type;
} Arguments;

/// One call with these arguments by each of the methods (or those with an offset alone), in one
/// direction: must give `error_class`.
static void refused(Context* context, MPI_File file, int writing, Arguments arguments,
                    int with_offset_alone, int error_class) {
  for (int i = 0; i < method_count; i++) {
    if (with_offset_alone && !has_offset(methods[i])) continue;
    for (int large = 0; large < 2; large++) {
      int values[4] = {1, 2, 3, 4};
      handler_calls = 0;
      int code = transfer(file, writing, methods[i], large, arguments.offset, values,
                          arguments.count, arguments.type, MPI_STATUS_IGNORE);
      char what[60];
      strcat(strcpy(what, writing ? "write " : "read "), method_name(methods[i]));
      check_class(context, __FILE__, __LINE__, what, code, error_class);
      if (handler_calls != 1 || handler_file != file) {
        fail(context, __FILE__, __LINE__, "%s: %d calls of the handler, must be 1", what,
             handler_calls);
      }
    }
  }
}

/// The file takes and gives values by each of the methods, from a shared pointer at 0.
static void still_works(Context* context, MPI_File file) {
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 0);
  MPI_Barrier(context->comm);
  handler_calls = 0;
  for (int i = 0; i < method_count; i++) {
    int value = 10 * i + context->rank, seen = -1;
    MPI_Offset offset = 4 * context->rank;
    MPI_Barrier(context->comm);  // ranks' shared accesses fall on others' places
    CHECK_OK(context, MPI_File_seek(file, offset, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 1, methods[i], 0, offset, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    if ((methods[i] & 15) >= SHARED) continue;
    CHECK_OK(context, MPI_File_seek(file, offset, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 0, methods[i], 0, offset, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, value);
  }
  CHECK_EQUAL(context, handler_calls, 0);
}

static void bad_argument(Context* context, Arguments arguments, int with_offset_alone,
                         int error_class) {
  MPI_File file = watched_file(context, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  refused(context, file, 1, arguments, with_offset_alone, error_class);
  refused(context, file, 0, arguments, with_offset_alone, error_class);
  MPI_Offset size = -1;
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 0);
  MPI_Barrier(context->comm);
  still_works(context, file);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) remove(path_of(context, "data"));
}

static void negative_count(Context* context) {
  bad_argument(context, (Arguments){0, -1, MPI_INT}, 0, MPI_ERR_COUNT);
}
static void negative_offset(Context* context) {
  bad_argument(context, (Arguments){-1, 1, MPI_INT}, 1, MPI_ERR_ARG);
}
static void null_type(Context* context) {
  bad_argument(context, (Arguments){0, 1, MPI_DATATYPE_NULL}, 0, MPI_ERR_TYPE);
}
static void uncommitted_type(Context* context) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  bad_argument(context, (Arguments){0, 1, type}, 0, MPI_ERR_TYPE);
  MPI_Type_free(&type);
}

static void wrong_mode(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 64, 'w');
  MPI_Barrier(context->comm);
  MPI_File file = watched_file(context, "data", MPI_MODE_RDONLY);
  refused(context, file, 1, (Arguments){0, 1, MPI_INT}, 0, MPI_ERR_READ_ONLY);
  close_file(context, &file);
  file = watched_file(context, "data", MPI_MODE_WRONLY);
  refused(context, file, 0, (Arguments){0, 1, MPI_INT}, 0, MPI_ERR_ACCESS);
  close_file(context, &file);
}

// One rank's arguments are wrong: it alone gets the error, and nobody waits for ever.
static void one_rank_wrong(Context* context) {
  MPI_File file = watched_file(context, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype pieces;
  MPI_Type_vector(8, 1, context->size, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  CHECK_OK(context,
           MPI_File_set_view(file, 4 * context->rank, MPI_INT, pieces, "native", MPI_INFO_NULL));
  MPI_Type_free(&pieces);
  int last = context->rank == context->size - 1;
  const int collective[] = {AT_ALL,         ALL,        AT_ALL | NONBLOCKING, ALL | NONBLOCKING,
                            AT_ALL | SPLIT, ALL | SPLIT};
  for (size_t i = 0; i < sizeof collective / sizeof *collective; i++) {
    int values[8] = {5, 6, 7, 8, 9, 10, 11, 12}, back[8] = {0};
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_CLASS(
        context,
        transfer(file, 1, collective[i], 0, 0, values, last ? -8 : 8, MPI_INT, MPI_STATUS_IGNORE),
        last ? MPI_ERR_COUNT : MPI_SUCCESS);
    CHECK_CLASS(context,
                transfer(file, 0, collective[i], 0, 0, back, 8, last ? MPI_DATATYPE_NULL : MPI_INT,
                         MPI_STATUS_IGNORE),
                last ? MPI_ERR_TYPE : MPI_SUCCESS);
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, collective[i], 0, 0, back, 8, MPI_INT, MPI_STATUS_IGNORE));
    if (!last) CHECK(context, memcmp(values, back, sizeof back) == 0);
  }
  close_file(context, &file);
}

// A view that cannot be is refused on all ranks, and the one before it stays.
static void bad_views(Context* context) {
  MPI_File file = watched_file(context, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Datatype uncommitted, three;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Type_contiguous(3, MPI_BYTE, &three);
  MPI_Type_commit(&three);
  const struct {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    const char* representation;
    int error_class;
  } wrong[] = {{-7, MPI_INT, MPI_INT, "native", MPI_ERR_ARG},
               {0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_ERR_TYPE},
               {0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_ERR_TYPE},
               {0, uncommitted, uncommitted, "native", MPI_ERR_TYPE},
               {0, MPI_INT, uncommitted, "native", MPI_ERR_TYPE},
               {0, MPI_INT, three, "native", MPI_ERR_ARG},
               {0, MPI_INT, MPI_INT, "no such one", MPI_ERR_UNSUPPORTED_DATAREP}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    handler_calls = 0;
    CHECK_CLASS(context,
                MPI_File_set_view(file, wrong[i].displacement, wrong[i].etype, wrong[i].filetype,
                                  wrong[i].representation, MPI_INFO_NULL),
                wrong[i].error_class);
    CHECK_EQUAL(context, handler_calls, 1);
  }
  MPI_Offset displacement = -1;
  MPI_Datatype types[2];
  char representation[MPI_MAX_DATAREP_STRING + 1];
  CHECK_OK(context, MPI_File_get_view(file, &displacement, &types[0], &types[1], representation));
  CHECK_EQUAL(context, displacement, 4);
  CHECK(context, types[0] == MPI_INT && types[1] == MPI_INT);
  if (context->size > 1) {  // etypes of another extent on one rank
    int last = context->rank == context->size - 1;
    MPI_Datatype etype = last ? MPI_DOUBLE : MPI_INT;
    CHECK_CLASS(context, MPI_File_set_view(file, 0, etype, etype, "native", MPI_INFO_NULL),
                MPI_ERR_NOT_SAME);
    CHECK_CLASS(
        context,
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "internal" : "native", MPI_INFO_NULL),
        MPI_ERR_NOT_SAME);
  }
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&three);
  close_file(context, &file);
}

// Types of views must not have negative displacements, nor go backwards, nor overlap where the file
// is written (MPI 4.1, section 14.1.1).
static void unordered_views(Context* context) {
  const int before[] = {-5}, falling[] = {3, 0}, lengths[] = {3, 1}, meeting[] = {0, 1};
  MPI_Datatype types[3];
  MPI_Type_create_indexed_block(1, 1, before, MPI_INT, &types[0]);
  MPI_Type_create_indexed_block(2, 1, falling, MPI_INT, &types[1]);
  MPI_Type_indexed(2, lengths, meeting, MPI_INT, &types[2]);
  for (int i = 0; i < 3; i++) MPI_Type_commit(&types[i]);
  const int modes[] = {MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_MODE_RDONLY};
  for (int reads = 0; reads < 2; reads++) {
    MPI_File file = watched_file(context, "data", modes[reads]);
    for (int i = 0; i < 3; i++) {
      const int expected = reads && i == 2 ? MPI_SUCCESS : MPI_ERR_IO;
      CHECK_CLASS(context, MPI_File_set_view(file, 800, MPI_INT, types[i], "native", MPI_INFO_NULL),
                  expected);
      CHECK_CLASS(context,
                  MPI_File_set_view(file, 800, types[i], types[i], "native", MPI_INFO_NULL),
                  expected);
    }
    close_file(context, &file);
  }
  for (int i = 0; i < 3; i++) MPI_Type_free(&types[i]);
}

static void other_procedures(Context* context) {
  MPI_File file = watched_file(context, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset offset = 0;
  MPI_Aint extent = 0;
  handler_calls = 0;
  CHECK_CLASS(context, MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_preallocate(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_get_byte_offset(file, -1, &offset), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_get_type_extent(file, MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
  CHECK_EQUAL(context, handler_calls, 6);
  if (context->size > 1) {
    int last = context->rank == context->size - 1;
    CHECK_CLASS(context, MPI_File_set_size(file, last ? 50 : 100), MPI_ERR_NOT_SAME);
    CHECK_CLASS(context, MPI_File_preallocate(file, last ? 50 : 100), MPI_ERR_NOT_SAME);
    CHECK_CLASS(context, MPI_File_seek_shared(file, last ? 5 : 0, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    CHECK_CLASS(context, MPI_File_set_atomicity(file, last), MPI_ERR_NOT_SAME);
  }
  CHECK_OK(context, MPI_File_get_size(file, &offset));
  CHECK_EQUAL(context, offset, 0);
  close_file(context, &file);
}

/// Every kind of procedure with a handle that is none.
static void no_such_file(Context* context, MPI_File file) {
  MPI_Offset offset;
  int value = 0, flag;
  MPI_Info info;
  MPI_Group group;
  MPI_File copy = file;
  for (int i = 0; i < method_count; i++) {
    CHECK_CLASS(
        context,
        transfer(file, i % 2, methods[i], i % 3 == 0, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
        MPI_ERR_FILE);
  }
  CHECK_CLASS(context, end_transfer(file, 0, ALL, &value, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_size(file, &offset), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_set_size(file, 3), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_position_shared(file, &offset), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_amode(file, &flag), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_group(file, &group), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_info(file, &info), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_set_atomicity(file, 1), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_get_atomicity(file, &flag), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_sync(file), MPI_ERR_FILE);
  CHECK_CLASS(context, MPI_File_close(&copy), MPI_ERR_FILE);
}

static void null_file(Context* context) {
  no_such_file(context, MPI_FILE_NULL);
}

// Handles that were one once, or are those of something else. Only the layer can tell.
static void closed_file(Context* context) {
  if (!context->layered) return;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File closed = file;
  close_file(context, &file);
  no_such_file(context, closed);
}

static void null_request(Context* context) {
  if (!context->layered) return;
  MPI_File file = watched_file(context, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = 1, error_class = 0;
  handler_calls = 0;
  for (int method = 0; method <= SHARED; method++) {
    int code = start_transfer(file, 1, method, 0, 0, &value, 1, MPI_INT, NULL);
    MPI_Error_class(code, &error_class);
    CHECK(context, error_class == MPI_ERR_REQUEST || error_class == MPI_ERR_ARG);
  }
  CHECK_EQUAL(context, handler_calls, SHARED + 1);
  still_works(context, file);
  close_file(context, &file);
}

const Case argument_cases[] = {{"argument_count", negative_count},
                               {"argument_offset", negative_offset},
                               {"argument_null_type", null_type},
                               {"argument_uncommitted", uncommitted_type},
                               {"argument_mode", wrong_mode},
                               {"argument_one_rank", one_rank_wrong},
                               {"argument_view", bad_views},
                               {"argument_view_order", unordered_views},
                               {"argument_other", other_procedures},
                               {"argument_null_file", null_file},
                               {"argument_closed_file", closed_file},
                               {"argument_null_request", null_request},
                               {NULL, NULL}};
