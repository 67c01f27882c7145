// Handles that a program is given, by callbacks among others: those that the standard names, so
// that it may compare them. Open MPI's predefined handles are addresses of data, of which a program
// that is linked in one way or another has a copy of its own.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

static int calls;
static MPI_File seen_file;
static int seen_code;

static void remember(MPI_File* file, int* code, ...) {
  calls++;
  seen_file = *file;
  seen_code = *code;
}

/// One call of the handler with that handle and class, and no more.
static void check_seen(Context* context, MPI_File file, int error_class) {
  CHECK_EQUAL(context, calls, 1);
  CHECK(context, seen_file == file);
  CHECK_CLASS(context, seen_code, error_class);
  calls = 0;
}

static int convert(void* memory, MPI_Datatype type, int count, void* stored, MPI_Offset position,
                   void* state) {
  (void)memory, (void)type, (void)count, (void)stored, (void)position, (void)state;
  return MPI_SUCCESS;
}

static int one_byte(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type, (void)state;
  *extent = 1;
  return MPI_SUCCESS;
}

// Errors of calls that have no file. The libraries know the class on one rank alone, raise some of
// these errors elsewhere, or not at all.
static void without_file(Context* context) {
  if (!context->layered) return;
  MPI_Errhandler handler;
  MPI_File file = MPI_FILE_NULL;
  MPI_File_create_errhandler(remember, &handler);
  CHECK_OK(context, MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  calls = 0;
  seen_file = (MPI_File)0x1234;
  int code = MPI_File_open(context->comm, path_of(context, "missing"), MPI_MODE_RDONLY,
                           MPI_INFO_NULL, &file);
  check_seen(context, MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
  CHECK_EQUAL(context, code, seen_code);
  CHECK(context, file == MPI_FILE_NULL);
  MPI_File_open(MPI_COMM_SELF, path_of(context, "data"), MPI_MODE_RDONLY | MPI_MODE_CREATE,
                MPI_INFO_NULL, &file);
  check_seen(context, MPI_FILE_NULL, MPI_ERR_AMODE);
  MPI_File_delete(path_of(context, "missing"), MPI_INFO_NULL);
  check_seen(context, MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
  MPI_Register_datarep("native", convert, convert, one_byte, NULL);
  check_seen(context, MPI_FILE_NULL, MPI_ERR_DUP_DATAREP);
  CHECK_OK(context, MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MPI_File_delete(path_of(context, "missing"), MPI_INFO_NULL);
  CHECK_EQUAL(context, calls, 0);
  MPI_Errhandler_free(&handler);
}

// Errors of calls on a file, told at once and when they are waited for.
static void with_file(Context* context) {
  if (!context->layered) return;
  if (context->rank == 0) fill_file(context, "data", 8, 'd');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  MPI_File other = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  MPI_Errhandler handler;
  MPI_File_create_errhandler(remember, &handler);
  CHECK_OK(context, MPI_File_set_errhandler(file, handler));
  MPI_Errhandler_free(&handler);
  calls = 0;
  int value = 1;
  for (int i = 0; i < OWN_PLACE_METHODS; i++) {
    transfer(file, 1, own_place_methods[i], i % 2, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    check_seen(context, file, MPI_ERR_READ_ONLY);
  }
  MPI_File_set_size(file, 10);
  check_seen(context, file, MPI_ERR_READ_ONLY);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL);
  check_seen(context, file, MPI_ERR_UNSUPPORTED_DATAREP);
  close_file(context, &other);
  close_file(context, &file);
  CHECK_EQUAL(context, calls, 0);
}

// What a file has by itself.
static void of_new_file(Context* context) {
  const MPI_Errhandler defaults[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
  for (int i = 0; i < 2; i++) {
    MPI_Errhandler current = MPI_ERRHANDLER_NULL;
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    MPI_Offset displacement = -1;
    char name[MPI_MAX_DATAREP_STRING] = "";
    CHECK_OK(context, MPI_File_set_errhandler(MPI_FILE_NULL, defaults[i]));
    CHECK_OK(context, MPI_File_get_errhandler(MPI_FILE_NULL, &current));
    CHECK(context, current == defaults[i]);
    MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context, MPI_File_get_errhandler(file, &current));
    CHECK(context, current == defaults[i]);
    CHECK_OK(context, MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK(context, etype == MPI_BYTE && filetype == MPI_BYTE);
    CHECK_OK(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK(context, etype == MPI_INT && filetype == MPI_INT);
    close_file(context, &file);
    CHECK(context, file == MPI_FILE_NULL);
  }
}

static void of_requests(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = context->rank;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(context, MPI_File_iwrite_at(file, 4 * context->rank, &value, 1, MPI_INT, &request));
  CHECK(context, request != MPI_REQUEST_NULL);
  CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(context, request == MPI_REQUEST_NULL);
  close_file(context, &file);
}

static const MPI_Datatype* converted;
static int conversions, strange;

static int see_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  strange += state != &strange || type != *converted;
  MPI_Aint lower = 0;
  return MPI_Type_get_extent(type, &lower, extent);
}

static int see_conversion(void* memory, MPI_Datatype type, int count, void* stored,
                          MPI_Offset position, void* state) {
  (void)memory, (void)position;
  conversions++;
  strange += state != &strange || type != *converted;
  int size = 0;
  MPI_Type_size(type, &size);
  memset(stored, 0, (size_t)count * (size_t)size);
  return MPI_SUCCESS;
}

// Plain libraries have no representations of the program's own.
static void of_conversions(Context* context) {
  static int registered;
  if (!context->layered) return;
  if (!registered++) {
    CHECK_OK(context,
             MPI_Register_datarep("seen", see_conversion, see_conversion, see_extent, &strange));
  }
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_BYTE, MPI_LONG_LONG};
  conversions = strange = 0;
  for (int i = 0; i < 5; i++) {
    char memory[64] = "";
    MPI_Request request;
    converted = &types[i];
    MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context, MPI_File_set_view(file, 64 * context->rank, types[i], types[i], "seen",
                                        MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_write_at_all(file, 0, memory, 3, types[i], MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_iread_at(file, 0, memory, 3, types[i], &request));
    CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
    close_file(context, &file);
  }
  CHECK_EQUAL(context, conversions, 10);
  CHECK_EQUAL(context, strange, 0);
}

const Case handle_cases[] = {
    {"handles_without_file", without_file},  {"handles_with_file", with_file},
    {"handles_new_file", of_new_file},       {"handles_requests", of_requests},
    {"handles_conversions", of_conversions}, {NULL, NULL}};
