#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { log_capacity = 1 << 16 };

static void append(Context* context, const char* format, va_list arguments) {
  if (context->log_used + 600 > log_capacity) return;
  context->log_used +=
      (size_t)snprintf(context->log + context->log_used, 100, "  rank %d: ", context->rank);
  int length = vsnprintf(context->log + context->log_used, 480, format, arguments);
  context->log_used += length < 480 ? (size_t)length : 479;
  context->log[context->log_used++] = '\n';
  context->log[context->log_used] = 0;
}

void note(Context* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append(context, format, arguments);
  va_end(arguments);
}

void fail(Context* context, const char* file, int line, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  context->failures++;
  const char* slash = strrchr(file, '/');
  note(context, "FAIL %s:%d: %s", slash ? slash + 1 : file, line, text);
}

void check_equal(Context* context, const char* file, int line, const char* what, long long actual,
                 long long expected) {
  if (actual != expected) {
    fail(context, file, line, "%s is %lld, must be %lld", what, actual, expected);
  }
}

const char* class_name(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  const struct {
    int value;
    const char* name;
  } names[] = {{MPI_SUCCESS, "SUCCESS"},
               {MPI_ERR_ACCESS, "ACCESS"},
               {MPI_ERR_AMODE, "AMODE"},
               {MPI_ERR_ARG, "ARG"},
               {MPI_ERR_BAD_FILE, "BAD_FILE"},
               {MPI_ERR_COMM, "COMM"},
               {MPI_ERR_COUNT, "COUNT"},
               {MPI_ERR_DUP_DATAREP, "DUP_DATAREP"},
               {MPI_ERR_FILE, "FILE"},
               {MPI_ERR_FILE_EXISTS, "FILE_EXISTS"},
               {MPI_ERR_FILE_IN_USE, "FILE_IN_USE"},
               {MPI_ERR_INTERN, "INTERN"},
               {MPI_ERR_IO, "IO"},
               {MPI_ERR_NO_MEM, "NO_MEM"},
               {MPI_ERR_NO_SPACE, "NO_SPACE"},
               {MPI_ERR_NO_SUCH_FILE, "NO_SUCH_FILE"},
               {MPI_ERR_NOT_SAME, "NOT_SAME"},
               {MPI_ERR_OTHER, "OTHER"},
               {MPI_ERR_QUOTA, "QUOTA"},
               {MPI_ERR_READ_ONLY, "READ_ONLY"},
               {MPI_ERR_TYPE, "TYPE"},
               {MPI_ERR_UNSUPPORTED_DATAREP, "UNSUPPORTED_DATAREP"},
               {MPI_ERR_UNSUPPORTED_OPERATION, "UNSUPPORTED_OPERATION"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i].value == error_class) return names[i].name;
  }
  return "(another class)";
}

int check_class(Context* context, const char* file, int line, const char* what, int code,
                int expected_class) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (error_class == expected_class) return 1;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  for (char* c = text; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
  fail(context, file, line, "%s gives class %s, must be %s (%.200s)", what, class_name(code),
       class_name(expected_class), text);
  return 0;
}

const char* path_of(Context* context, const char* name) {
  static _Thread_local char buffers[8][1200];
  static _Thread_local int next = 0;
  char* buffer = buffers[next++ % 8];
  snprintf(buffer, sizeof buffers[0], "%s/%s.%s", context->directory, context->case_name, name);
  return buffer;
}

void info_value(MPI_File file, const char* key, char* value, int capacity) {
  MPI_Info info = MPI_INFO_NULL;
  int found = 0;
  value[0] = 0;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return;
#if MPI_VERSION >= 4
  int length = capacity;
  MPI_Info_get_string(info, key, &length, value, &found);
#else
  MPI_Info_get(info, key, capacity - 1, value, &found);
#endif
  if (!found) value[0] = 0;
  MPI_Info_free(&info);
}

int carried(MPI_File file) {
  char value[256];
  info_value(file, "headrace_write_path", value, sizeof value);
  return value[0] != 0;
}

MPI_File open_file(Context* context, MPI_Comm comm, const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  const char* path = path_of(context, name);
  int code = MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING + 1];
    int length;
    MPI_Error_string(code, text, &length);
    printf("rank %d: cannot open %s: %s\n", context->rank, path, text);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (carried(file) != context->layered) {
    fail(context, __FILE__, __LINE__, "%s is %scarried by the engine, must %sbe", name,
         context->layered ? "not " : "", context->layered ? "" : "not ");
  }
  return file;
}

void close_file(Context* context, MPI_File* file) {
  CHECK_OK(context, MPI_File_close(file));
  CHECK(context, *file == MPI_FILE_NULL);
}

// Standard output from rank 0, in the order of ranks. Returns the failures of all ranks.
static int print_log(Context* context) {
  int total = 0;
  int length = (int)context->log_used;
  MPI_Allreduce(&context->failures, &total, 1, MPI_INT, MPI_SUM, context->comm);
  if (context->rank != 0) {
    MPI_Send(&length, 1, MPI_INT, 0, 7, context->comm);
    if (length > 0) MPI_Send(context->log, length, MPI_CHAR, 0, 7, context->comm);
    return total;
  }
  printf("case %s %s\n%s", context->case_name, total == 0 ? "ok" : "FAILED", context->log);
  for (int rank = 1; rank < context->size; rank++) {
    MPI_Recv(&length, 1, MPI_INT, rank, 7, context->comm, MPI_STATUS_IGNORE);
    if (length == 0) continue;
    MPI_Recv(context->log, length, MPI_CHAR, rank, 7, context->comm, MPI_STATUS_IGNORE);
    printf("%.*s", length, context->log);
  }
  fflush(stdout);
  return total;
}

// Names with commas between them; one that ends in * stands for all that begin like it.
static int listed(const char* list, const char* name) {
  while (*list) {
    size_t length = strcspn(list, ",");
    int open_ended = length > 0 && list[length - 1] == '*';
    if (strncmp(list, name, length - (size_t)open_ended) == 0 &&
        (open_ended || name[length] == 0)) {
      return 1;
    }
    list += length + (list[length] == ',');
  }
  return 0;
}

int run_cases(int argc, char** argv, const Case* cases, size_t case_count) {
  Context context = {.comm = MPI_COMM_WORLD, .directory = "."};
  const char* skip = "";
  const char* only = NULL;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &context.thread_level);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--skip") == 0 && i + 1 < argc) {
      skip = argv[++i];
    } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else if (strcmp(argv[i], "--deep") == 0) {
      context.deep = 1;
    } else {
      context.directory = argv[i];
    }
  }
  const char* expect = getenv("MPI_TEST_EXPECT");
  context.layered = expect && strcmp(expect, "engine") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &context.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &context.size);
  context.log = malloc(log_capacity);
  int failures = 0;
  for (size_t i = 0; i < case_count; i++) {
    if (listed(skip, cases[i].name) || (only && !listed(only, cases[i].name))) continue;
    context.case_name = cases[i].name;
    context.failures = 0;
    context.log_used = 0;
    context.log[0] = 0;
    double start = MPI_Wtime();
    if (context.rank == 0 && getenv("MPI_TEST_TIMES")) fprintf(stderr, "%s\n", cases[i].name);
    cases[i].run(&context);
    failures += print_log(&context);
    if (context.rank == 0 && getenv("MPI_TEST_TIMES")) {
      fprintf(stderr, "%s: %.3f s\n", cases[i].name, MPI_Wtime() - start);
    }
  }
  if (context.rank == 0) printf("end\n");
  fflush(stdout);
  free(context.log);
  MPI_Finalize();
  return failures != 0;
}
