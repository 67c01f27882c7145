// Many files at once, and one after another: what an open takes, a close gives back.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "exercise.h"

static int entries_of(const char* path) {
  int count = 0;
  DIR* directory = opendir(path);
  while (directory && readdir(directory)) count++;
  if (directory) closedir(directory);
  return count;
}

static int lines_of(const char* path) {
  int count = 0, character;
  FILE* stream = fopen(path, "r");
  while (stream && (character = fgetc(stream)) != EOF) count += character == '\n';
  if (stream) fclose(stream);
  return count;
}

static void open_name(char* name, size_t capacity, int number) {
  snprintf(name, capacity, "data%d", number);
}

// A thousand files open at the same time, a write and a read through each. Where there are not two
// ranks there are fewer, so that it does not take long.
static void at_once(Context* context) {
  int count = context->size == 2 ? 1000 : 60;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  MPI_File* files = malloc(sizeof *files * (size_t)count);
  char name[40];
  for (int i = 0; i < count; i++) {
    open_name(name, sizeof name, i);
    files[i] = open_file(context, context->comm, name,
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  }
  for (int i = 0; i < count; i++) {
    int value = 1000 * i + context->rank;
    CHECK_OK(context, transfer(files[i], 1, i % 3 ? AT_ALL : AT, 0, 4 * context->rank, &value, 1,
                               MPI_INT, MPI_STATUS_IGNORE));
  }
  for (int i = count - 1; i >= 0; i--) {
    int seen = -1;
    CHECK_OK(context, transfer(files[i], 0, i % 5 ? AT : AT | NONBLOCKING, 0, 4 * context->rank,
                               &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, 1000 * i + context->rank);
  }
  for (int i = 0; i < count; i++) close_file(context, &files[i * 7 % count]);
  free(files);
}

// Thousands of opens, of several communicators, with views, requests and shared pointers: neither
// descriptors nor mappings nor threads grow, nor does what MPI has few of run out.
static void one_after_another(Context* context) {
  if (!context->layered) return;
  int count = context->size == 1 ? 2500 : 150, before[3] = {0}, after[3] = {0};
  MPI_Datatype filetype;
  MPI_Type_vector(4, 2, 2 * context->size, MPI_INT, &filetype);
  MPI_Type_commit(&filetype);
  for (int i = 0; i < count; i++) {
    char name[40];
    int values[8] = {i, i + 1, i + 2}, back[8] = {0}, self = i % 4 == 3;
    open_name(name, sizeof name, self ? 1 + context->rank : 0);
    MPI_File file = open_file(context, self ? MPI_COMM_SELF : context->comm, name,
                              MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (i % 2) {
      CHECK_OK(context, MPI_File_set_view(file, self ? 0 : 8 * context->rank, MPI_INT, filetype,
                                          "native", MPI_INFO_NULL));
      CHECK_OK(context, transfer(file, 1, i % 4 == 1 ? ALL : ALL | SPLIT, 0, 0, values, 8, MPI_INT,
                                 MPI_STATUS_IGNORE));
      CHECK_OK(context,
               transfer(file, 0, AT | NONBLOCKING, 0, 0, back, 8, MPI_INT, MPI_STATUS_IGNORE));
      CHECK(context, memcmp(values, back, sizeof back) == 0);
    } else if (i % 8 == 4) {
      CHECK_OK(context, MPI_File_write_shared(file, values, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    close_file(context, &file);
    int* numbers = i == 100 ? before : after;
    if (i != 100 && i != count - 1) continue;
    numbers[0] = entries_of("/proc/self/fd");
    numbers[1] = lines_of("/proc/self/maps");
    numbers[2] = entries_of("/proc/self/task");
  }
  MPI_Type_free(&filetype);
  CHECK(context, after[0] <= before[0] + 3);
  CHECK(context, after[1] <= before[1] + 30);
  CHECK(context, after[2] <= before[2] + 3);
  MPI_Barrier(context->comm);
  if (context->rank == 0) remove(path_of(context, "data0"));
}

// Communicators come and go with files open and closed over them.
static void communicators(Context* context) {
  int count = context->size == 2 ? 700 : 40;
  for (int i = 0; i < count; i++) {
    MPI_Comm half;
    char name[40];
    MPI_Comm_split(context->comm, context->rank % 2, context->rank, &half);
    open_name(name, sizeof name, context->rank % 2);
    MPI_File file = open_file(context, half, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    if (i % 2) MPI_Comm_free(&half);
    if (i % 50 == 0) {
      CHECK_OK(context,
               MPI_File_write_ordered(file, &i, context->rank < 2, MPI_INT, MPI_STATUS_IGNORE));
    }
    close_file(context, &file);
    if (i % 2 == 0) MPI_Comm_free(&half);
  }
}

const Case many_cases[] = {{"many_at_once", at_once},
                           {"many_one_after_another", one_after_another},
                           {"many_communicators", communicators},
                           {NULL, NULL}};
