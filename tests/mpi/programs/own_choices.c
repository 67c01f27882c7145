// Files of the program's own, for some of which buffers are no good (HEADRACE_IOBUF).
//
//   own_choices DIRECTORY MANY [SHARED STREAM OPEN READ]
//
// Each rank writes below DIRECTORY, before their names its number and a dot: `plain` and `stream`
// (of C) to their ends, `append` with O_APPEND, `copied`, whose descriptor it copies by dup, and
// MANY files `many-N`, one at a time. Each has the line "text" in the end. In the file SHARED each
// rank writes its line at its own place, while the others do; in STREAM and OPEN by a stream, which
// it positions and closes in STREAM, and closes after MPI_Finalize in OPEN. READ is written by the
// first rank alone, though all open it to read and write.
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

static FILE* write_stream(const char* name, int writes) {
  const int made = open(name, O_CREAT | O_WRONLY, 0600);
  if (made < 0 || close(made) != 0) exit(1);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* const stream = fopen(name, "r+");
  if (stream == NULL || fseek(stream, 5 * rank, SEEK_SET) != 0) exit(1);
  if (writes && fputs("text\n", stream) < 0) exit(1);
  if (!writes) fgetc(stream);
  MPI_Barrier(MPI_COMM_WORLD);
  return stream;
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
  FILE* left = NULL;
  if (count > 3) {
    write_line(words[3]);
    FILE* const positioned = write_stream(words[4], 1);
    if (fseek(positioned, 5 * rank, SEEK_SET) != 0 || fgetc(positioned) != 't') exit(1);
    if (fclose(positioned) != 0 || fclose(write_stream(words[6], rank == 0)) != 0) exit(1);
    left = write_stream(words[5], 1);
  }
  MPI_Finalize();
  if (left != NULL && fclose(left) != 0) return 1;
  return 0;
}
