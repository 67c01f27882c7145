// One open and one write that something is wrong with; says what came of it, rank by rank.
//
//   bad_input PATH BYTES_PER_RANK [LIMIT RANK]
//
// With LIMIT, RANK may not write past that many bytes into a file (RLIMIT_FSIZE). Prints one line a
// rank: "rank R open CLASS", or "rank R write CLASS BYTES close CLASS".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness.h"

static void say(int rank, int size, const char* text) {
  for (int turn = 0; turn < size; turn++) {
    if (turn == rank) {
      printf("rank %d %s\n", rank, text);
      fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void message(int code, char* text) {
  int length = 0;
  text[0] = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  for (char* c = text; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int bytes = atoi(argv[2]), piece = 1000;
  if (argc > 4 && atoi(argv[4]) == rank) {
    struct rlimit limit = {(rlim_t)atol(argv[3]), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  char text[MPI_MAX_ERROR_STRING + 400], reason[MPI_MAX_ERROR_STRING + 1];
  MPI_File file;
  int code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                           MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) {
    message(code, reason);
    snprintf(text, sizeof text, "open %s: %s", class_name(code), reason);
    say(rank, size, text);
    MPI_Finalize();
    return 0;
  }
  // pieces of all ranks in turn
  MPI_Datatype filetype;
  MPI_Type_vector(bytes / piece, piece, piece * size, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, piece * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
  MPI_Type_free(&filetype);
  unsigned char* memory = malloc((size_t)bytes);
  fill_pattern(memory, (size_t)bytes, rank, 0);
  MPI_Status status;
  int count = -1;
  memset(&status, 0, sizeof status);
  code = MPI_File_write_all(file, memory, bytes, MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  message(code, reason);
  char write_class[32];
  snprintf(write_class, sizeof write_class, "%s", class_name(code));
  code = MPI_File_close(&file);
  snprintf(text, sizeof text, "write %s %d close %s: %s", write_class, count, class_name(code),
           reason);
  say(rank, size, text);
  free(memory);
  MPI_Finalize();
  return 0;
}
