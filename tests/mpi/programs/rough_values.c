// Values that make no sense, of variables and of hints: whatever they are, what is written is
// right.
//
//   rough_values DIRECTORY variables KIND NAME...
//   rough_values DIRECTORY hints KIND NAME...
//
// With "variables" sets each NAME before MPI_Init, and uses one file. With "hints" uses a file for
// each NAME, and one with all of them. KIND: empty, negative, zero, huge, largest, binary, long or
// digits; the last two are a megabyte, or as long as an info may hold. Rank 0 prints a line a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { PIECE = 500, PIECES = 40, BYTES = PIECE * PIECES, LONG = 1 << 20 };

static int rank, size;

static char* value_of(const char* kind, int most) {
  static const char* const values[][2] = {{"empty", ""},
                                          {"negative", "-1"},
                                          {"zero", "0"},
                                          {"huge", "99999999999999999999999999"},
                                          {"largest", "9223372036854775807"},
                                          {"binary", "\x01\xff\x80\x1b[31m'\"\n\t%s%n"}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    if (strcmp(kind, values[i][0]) == 0) return strdup(values[i][1]);
  }
  char* value = malloc((size_t)most + 1);
  memset(value, strcmp(kind, "digits") == 0 ? '9' : 'x', (size_t)most);
  value[most] = 0;
  return value;
}

static int is_written(const char* path) {
  size_t bytes = 0;
  unsigned char* all = read_whole(path, &bytes);
  int good = all && bytes == (size_t)BYTES * (size_t)size;
  for (size_t i = 0; good && i < bytes; i++) {
    size_t piece = i / PIECE;
    int writer = (int)(piece % (size_t)size);
    good = all[i] == pattern(writer, (int64_t)(piece / (size_t)size * PIECE + i % PIECE));
  }
  free(all);
  return good;
}

/// The hints are given by open, again by set_info, and by set_view.
static const char* use(const char* directory, MPI_Info info) {
  char path[1000];
  snprintf(path, sizeof path, "%s/data", directory);
  if (rank == 0) remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) !=
      MPI_SUCCESS) {
    return "no open";
  }
  const char* wrong = NULL;
  MPI_Datatype type;
  MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  if (MPI_File_set_info(file, info) != MPI_SUCCESS) wrong = "no set_info";
  if (MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, type, "native", info) !=
      MPI_SUCCESS) {
    wrong = "no set_view";
  }
  MPI_Type_free(&type);
  unsigned char memory[BYTES], back[BYTES];
  fill_pattern(memory, BYTES, rank, 0);
  memset(back, 0, BYTES);
  static const int methods[] = {AT_ALL, AT_ALL | NONBLOCKING, AT};
  for (int i = 0; i < 3; i++) {
    int code = transfer(file, 1, methods[i], 0, 0, memory, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) wrong = "no write";
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    code = transfer(file, 0, methods[i], 0, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || memcmp(memory, back, BYTES) != 0) wrong = "wrong read";
  }
  MPI_Info used;
  if (!carried(file)) wrong = "not carried";
  if (MPI_File_get_info(file, &used) != MPI_SUCCESS) wrong = "no get_info";
  MPI_Info_free(&used);
  if (MPI_File_close(&file) != MPI_SUCCESS) wrong = "no close";
  if (!is_written(path)) wrong = "wrong file";
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

static void tell(const char* name, const char* kind, const char* wrong) {
  int mine = wrong != NULL, any;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s %s %s\n", name, kind, !any ? "right" : wrong ? wrong : "wrong on another rank");
    fflush(stdout);
  }
}

/// Some libraries refuse some values.
static int is_set(MPI_Info info, const char* name, const char* value) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  return MPI_Info_set(info, name, value) == MPI_SUCCESS;
}

static void try_hints(int argc, char** argv) {
  char* value = value_of(argv[3], MPI_MAX_INFO_VAL - 1);
  MPI_Info all;
  MPI_Info_create(&all);
  for (int i = 4; i < argc; i++) {
    MPI_Info one;
    MPI_Info_create(&one);
    if (is_set(one, argv[i], value)) {
      tell(argv[i], argv[3], use(argv[1], one));
      is_set(all, argv[i], value);
    } else if (rank == 0) {
      printf("%s %s refused\n", argv[i], argv[3]);
    }
    MPI_Info_free(&one);
  }
  tell("all", argv[3], use(argv[1], all));
  MPI_Info_free(&all);
  free(value);
}

int main(int argc, char** argv) {
  const int sets_variables = strcmp(argv[2], "variables") == 0;
  char* value = value_of(argv[3], LONG);
  for (int i = 4; i < argc && sets_variables; i++) setenv(argv[i], value, 1);
  free(value);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (sets_variables) {
    tell("variables", argv[3], use(argv[1], MPI_INFO_NULL));
  } else {
    try_hints(argc, argv);
  }
  MPI_Finalize();
  return 0;
}
