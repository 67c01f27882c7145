// A program in a rough place: without standard descriptors, or without a working directory. It
// opens files of its own, which get the lowest numbers that are free, and uses MPI files beside
// them.
//
//   rough_place DIRECTORY before|after|itself|never [NAME]
//
// When it opens its own files: before MPI_Init, after it, or after it has closed descriptors 0 to 2
// itself. With NAME it opens only that file, in whatever directory it is, and tells the class.
// Ranks report to DIRECTORY/report.RANK: standard output may be a file of the program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum { OWN = 3, OWN_BYTES = 5000, PIECE = 1000, PIECES = 50, BYTES = PIECE * PIECES };

static int rank, size;
static int own[OWN];
static char report[4000];

static void tell(const char* what, const char* result) {
  size_t used = strlen(report);
  snprintf(report + used, sizeof report - used, "%s %s\n", what, result);
}

static void open_own(const char* directory) {
  char path[1000], content[OWN_BYTES];
  memset(content, 'o', sizeof content);
  for (int i = 0; i < OWN; i++) {
    snprintf(path, sizeof path, "%s/own-%d-%d", directory, (int)getpid(), i);
    own[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (own[i] < 0 || write(own[i], content, sizeof content) != OWN_BYTES) abort();
    // What is written by this number from now on goes to the beginning.
    lseek(own[i], 0, SEEK_SET);
  }
}

static void check_own(void) {
  for (int i = 0; i < OWN; i++) {
    char seen[OWN_BYTES + 1];
    int good = pread(own[i], seen, sizeof seen, 0) == OWN_BYTES;
    for (int k = 0; good && k < OWN_BYTES; k++) good = seen[k] == 'o';
    tell("own", good ? "unchanged" : "CHANGED");
  }
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

static void use(const char* directory) {
  char path[1000];
  snprintf(path, sizeof path, "%s/data", directory);
  MPI_File file;
  int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  tell("open", class_name(code));
  if (code != MPI_SUCCESS) return;
  tell("carried", carried(file) ? "engine" : "plain");
  MPI_Datatype type;
  MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  unsigned char memory[BYTES], back[BYTES];
  fill_pattern(memory, BYTES, rank, 0);
  static const int methods[] = {AT_ALL, AT_ALL | NONBLOCKING, AT_ALL | SPLIT, AT};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    code = transfer(file, 1, methods[i], 0, 0, memory, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) tell(method_name(methods[i]), class_name(code));
  }
  tell("sync", class_name(MPI_File_sync(file)));
  memset(back, 0, BYTES);
  code = transfer(file, 0, AT_ALL, 0, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
  tell("read", code == MPI_SUCCESS && memcmp(memory, back, BYTES) == 0 ? "right" : "WRONG");
  tell("close", class_name(MPI_File_close(&file)));
  tell("data", is_written(path) ? "right" : "WRONG");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void open_only(const char* name) {
  MPI_File file;
  int code =
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  tell("open", class_name(code));
  if (code == MPI_SUCCESS) MPI_File_close(&file);
}

int main(int argc, char** argv) {
  const char* const when = argv[2];
  const int has_own = strcmp(when, "never") != 0;
  if (strcmp(when, "before") == 0) open_own(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3 && strcmp(when, "itself") == 0; i++) close(i);
  if (has_own && strcmp(when, "before") != 0) open_own(argv[1]);
  char path[1000], made[1100];
  snprintf(path, sizeof path, "%s/report.%d", argv[1], rank);
  snprintf(made, sizeof made, "%s.made", path);
  if (argc > 3) {
    open_only(argv[3]);
  } else {
    use(argv[1]);
  }
  MPI_Finalize();
  if (has_own) check_own();
  tell("end", "reached");
  int file = open(made, O_WRONLY | O_CREAT, 0666);
  if (file < 0 || write(file, report, strlen(report)) < 0 || rename(made, path) != 0) abort();
  return 0;
}
