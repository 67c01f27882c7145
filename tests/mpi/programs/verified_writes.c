// Collective writes in all ways, each into a file of its own with holes between the ranks' pieces.
//
//   verified_writes DIRECTORY
//
// Prints a line for each rank and file: "FILE rank R write CLASS BYTES close CLASS: TEXT".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { NUMBERS = 50000, PIECE = 500 };

static int rank, size;

static int write_blocking(MPI_File file, int* data, MPI_Status* status) {
  return MPI_File_write_all(file, data, NUMBERS, MPI_INT, status);
}

static int write_nonblocking(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  int code = MPI_File_iwrite_all(file, data, NUMBERS, MPI_INT, &request);
  if (code != MPI_SUCCESS) return code;
  return MPI_Wait(&request, status);
}

static int write_split(MPI_File file, int* data, MPI_Status* status) {
  int code = MPI_File_write_all_begin(file, data, NUMBERS, MPI_INT);
  if (code != MPI_SUCCESS) return code;
  return MPI_File_write_all_end(file, data, status);
}

static int write_atomic(MPI_File file, int* data, MPI_Status* status) {
  int code = MPI_File_set_atomicity(file, 1);
  if (code != MPI_SUCCESS) return code;
  return MPI_File_write_all(file, data, NUMBERS, MPI_INT, status);
}

static int write_ordered(MPI_File file, int* data, MPI_Status* status) {
  return MPI_File_write_ordered(file, data, NUMBERS, MPI_INT, status);
}

typedef int (*way_t)(MPI_File, int*, MPI_Status*);

static void try_way(const char* directory, const char* name, way_t way, int mode, char* datarep) {
  char path[1000], text[MPI_MAX_ERROR_STRING + 1] = "";
  snprintf(path, sizeof path, "%s/%s.verified", directory, name);
  MPI_File file;
  int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
  if (way == write_ordered) {
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL);
  } else {
    // a hole as large as a piece behind the ranks' pieces
    MPI_Datatype block, filetype;
    MPI_Type_contiguous(PIECE, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)sizeof(int) * PIECE * (size + 1), &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * PIECE * rank, MPI_INT, filetype, datarep,
                      MPI_INFO_NULL);
    MPI_Type_free(&filetype);
    MPI_Type_free(&block);
  }
  int* data = malloc(sizeof(int) * NUMBERS);
  for (int i = 0; i < NUMBERS; i++) data[i] = (rank + 1) * 1000000 + i;
  MPI_Status status;
  memset(&status, 0, sizeof status);
  code = way(file, data, &status);
  char write_class[32];
  snprintf(write_class, sizeof write_class, "%s", class_name(code));
  int length, count;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  MPI_Get_count(&status, MPI_BYTE, &count);
  code = MPI_File_close(&file);
  for (char* c = text; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
  printf("%s rank %d write %s %d close %s: %s\n", name, rank, write_class, count, class_name(code),
         text);
  fflush(stdout);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* directory = argc > 1 ? argv[1] : ".";
  try_way(directory, "blocking", write_blocking, MPI_MODE_RDWR, "native");
  try_way(directory, "write_only", write_blocking, MPI_MODE_WRONLY, "native");
  try_way(directory, "nonblocking", write_nonblocking, MPI_MODE_RDWR, "native");
  try_way(directory, "split", write_split, MPI_MODE_WRONLY, "native");
  try_way(directory, "ordered", write_ordered, MPI_MODE_RDWR, "native");
  try_way(directory, "atomic", write_atomic, MPI_MODE_RDWR, "native");
  try_way(directory, "external32", write_blocking, MPI_MODE_RDWR, "external32");
  MPI_Finalize();
  return 0;
}
