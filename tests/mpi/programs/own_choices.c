// Files of the program's own, for some of which buffers are no good (HEADRACE_IOBUF).
//
//   own_choices DIRECTORY MANY [SHARED]
//
// Each rank writes below DIRECTORY, before their names its number and a dot: `plain` and `stream`
// (of C) to their ends, `append` with O_APPEND, `copied`, whose descriptor it copies by dup, and
// MANY files `many-N`, one at a time. Each has the line "text" in the end. In the file SHARED each
// rank writes its line at its own place, while the others do.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char* place;
static int rank;

static int open_own(const char* name, int flags) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%d.%s", place, rank, name);
  const int made = open(path, O_CREAT | O_WRONLY | flags, 0600);
  if (made < 0) exit(1);
  return made;
}

static void write_text(int descriptor) {
  if (write(descriptor, "te", 2) != 2 || write(descriptor, "xt\n", 3) != 3) exit(1);
  if (close(descriptor) != 0) exit(1);
}

static void write_line(const char* name) {
  const int made = open(name, O_CREAT | O_WRONLY, 0600);
  MPI_Barrier(MPI_COMM_WORLD);
  if (made < 0 || pwrite(made, "text\n", 5, 5 * rank) != 5) exit(1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (close(made) != 0) exit(1);
}

int main(int count, char** words) {
  char name[4200];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  place = words[1];
  write_text(open_own("plain", 0));
  write_text(open_own("append", O_APPEND));
  const int copied = open_own("copied", 0), copy = dup(copied);
  write_text(copied);
  close(copy);
  snprintf(name, sizeof name, "%s/%d.stream", place, rank);
  FILE* const stream = fopen(name, "w");
  if (stream == NULL || fputs("text\n", stream) < 0 || fclose(stream) != 0) return 1;
  for (int i = 0; i < atoi(words[2]); ++i) {
    snprintf(name, sizeof name, "many-%d", i);
    write_text(open_own(name, 0));
  }
  if (count > 3) write_line(words[3]);
  MPI_Finalize();
  return 0;
}
