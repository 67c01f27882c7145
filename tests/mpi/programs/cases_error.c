// Error classes, error handlers, and that a failed call does no harm.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercise.h"

static int handler_calls;
static MPI_File handler_file;
static int handler_code;

static void remember(MPI_File* file, int* code, ...) {
  handler_calls++;
  handler_file = *file;
  handler_code = *code;
}

static void open_errors(Context* context) {
  // What a failed open leaves in the handle is MPI_FILE_NULL: Fortran bindings rely on it.
  MPI_File file = open_file(context, MPI_COMM_SELF, "other", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_File other = file;
  int code = MPI_File_open(context->comm, path_of(context, "missing/data"),
                           MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  CHECK_CLASS(context, code, MPI_ERR_NO_SUCH_FILE);
  CHECK(context, file == MPI_FILE_NULL);
  close_file(context, &other);
  code = MPI_File_open(context->comm, path_of(context, "missing"), MPI_MODE_RDONLY, MPI_INFO_NULL,
                       &file);
  CHECK_CLASS(context, code, MPI_ERR_NO_SUCH_FILE);
  const int wrong[] = {MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_MODE_CREATE,
                       MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_EXCL,
                       MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    code = MPI_File_open(context->comm, path_of(context, "data"), wrong[i], MPI_INFO_NULL, &file);
    CHECK_CLASS(context, code, MPI_ERR_AMODE);
  }
  CHECK_EQUAL(context, access(path_of(context, "data"), F_OK), -1);
}

// The text of an error names the file, so that a user can act on it. The engine promises this; what
// the libraries say is their affair.
static void message_names_the_file(Context* context) {
  if (!context->layered) return;
  MPI_File file;
  const char* path = path_of(context, "missing/data");
  int code = MPI_File_open(context->comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  CHECK(context, strstr(text, "missing/data") != NULL);
}

static void access_errors(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 64, 'k');
  MPI_Barrier(context->comm);
  int value = 5;
  for (int method = 0; method < METHOD_COUNT; method++) {
    MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
    CHECK_CLASS(context, transfer(file, 1, method, 0, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_READ_ONLY);
    close_file(context, &file);
    file = open_file(context, context->comm, "data", MPI_MODE_WRONLY);
    CHECK_CLASS(context, transfer(file, 0, method, 0, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ACCESS);
    close_file(context, &file);
  }
}

static void argument_errors(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = 5;
  CHECK_CLASS(context, MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_read_at_all(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_write(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(context, MPI_File_write(file, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE),
              MPI_ERR_TYPE);
  CHECK_CLASS(context, MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
  MPI_Offset size = -1;
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 0);
  close_file(context, &file);
}

static void handlers(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler, current;
  MPI_File_create_errhandler(remember, &handler);
  CHECK_OK(context, MPI_File_get_errhandler(file, &current));
  CHECK(context, current == MPI_ERRORS_RETURN);
  CHECK_OK(context, MPI_File_set_errhandler(file, handler));
  CHECK_OK(context, MPI_File_get_errhandler(file, &current));
  CHECK(context, current == handler);
  MPI_Errhandler_free(&current);
  int value = 1;
  handler_calls = 0;
  MPI_File_write_at(file, -5, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_EQUAL(context, handler_calls, 1);
  CHECK(context, handler_file == file);
  CHECK_CLASS(context, handler_code, MPI_ERR_ARG);
  CHECK_OK(context, MPI_File_call_errhandler(file, MPI_ERR_IO));
  CHECK_EQUAL(context, handler_calls, 2);
  CHECK_CLASS(context, handler_code, MPI_ERR_IO);
#ifdef MPI_ABI_VERSION
  CHECK(context, MPI_File_fromint(MPI_File_toint(file)) == file);
#else
  CHECK(context, MPI_File_f2c(MPI_File_c2f(file)) == file);
#endif
  CHECK_OK(context,
           MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, handler_calls, 2);
  close_file(context, &file);
  MPI_Errhandler_free(&handler);
}

// The handler of MPI_FILE_NULL hears of failed opens, and files opened later inherit it.
static void default_handler(Context* context) {
  MPI_Errhandler handler, current;
  MPI_File file = MPI_FILE_NULL;
  MPI_File_create_errhandler(remember, &handler);
  CHECK_OK(context, MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  handler_calls = 0;
  MPI_File_open(context->comm, path_of(context, "missing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK_EQUAL(context, handler_calls, 1);
  CHECK(context, handler_file == MPI_FILE_NULL);
  CHECK_CLASS(context, handler_code, MPI_ERR_NO_SUCH_FILE);
  if (context->rank == 0) {
    MPI_File_delete(path_of(context, "missing"), MPI_INFO_NULL);
    CHECK_EQUAL(context, handler_calls, 2);
  }
  file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_get_errhandler(file, &current));
  CHECK(context, current == handler);
  MPI_Errhandler_free(&current);
  close_file(context, &file);
  CHECK_OK(context, MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MPI_Errhandler_free(&handler);
}

// One rank asks for what cannot be; the others do their part of the same collective call.
static void error_on_one_rank(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = 900 + context->rank, seen = -1;
  int last = context->rank == context->size - 1;
  int code =
      MPI_File_write_at(file, last ? -4 : 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_CLASS(context, code, last ? MPI_ERR_ARG : MPI_SUCCESS);
  CHECK_OK(context,
           MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context,
           MPI_File_read_at_all(file, 4 * context->rank, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, value);
  close_file(context, &file);
}

const Case error_cases[] = {
    {"error_open", open_errors},           {"error_message", message_names_the_file},
    {"error_access", access_errors},       {"error_argument", argument_errors},
    {"error_handlers", handlers},          {"error_default_handler", default_handler},
    {"error_one_rank", error_on_one_rank}, {NULL, NULL}};
