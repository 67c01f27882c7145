// Atomic mode: conflicting calls happen one after the other, whole.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

static MPI_File atomic_file(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int flag = -1;
  CHECK_OK(context, MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(context, flag, 0);
  CHECK_OK(context, MPI_File_set_atomicity(file, 1));
  CHECK_OK(context, MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(context, flag, 1);
  return file;
}

static void check_uniform(Context* context, const unsigned char* memory, size_t bytes,
                          const char* what) {
  for (size_t i = 1; i < bytes; i++) {
    if (memory[i] == memory[0]) continue;
    fail(context, __FILE__, __LINE__, "%s: byte 0 is %d, byte %zu is %d", what, memory[0], i,
         memory[i]);
    return;
  }
}

// All ranks write the same places at once, through a view with holes and without; then all of one
// call's bytes are there, whichever it was.
static void same_places(Context* context) {
  enum { pieces = 40, piece = 300, bytes = pieces * piece };
  MPI_File file = atomic_file(context);
  MPI_Datatype filetype;
  MPI_Type_vector(pieces, piece, 2 * piece, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  unsigned char* memory = malloc(bytes);
  const int methods[] = {
      AT, PLAIN, AT_ALL, ALL, AT | NONBLOCKING, AT_ALL | SPLIT, ALL | NONBLOCKING};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    for (int strided = 0; strided < 2; strided++) {
      CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, strided ? filetype : MPI_BYTE,
                                          "native", MPI_INFO_NULL));
      for (int round = 0; round < 3; round++) {
        memset(memory, 16 * (round + 1) + context->rank, bytes);
        CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI_Barrier(context->comm);
        CHECK_OK(context,
                 transfer(file, 1, methods[i], 0, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(context->comm);
        CHECK_OK(context, MPI_File_read_at(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        check_uniform(context, memory, bytes, method_name(methods[i]));
        CHECK(context, memory[0] / 16 == round + 1);
        MPI_Barrier(context->comm);
      }
    }
  }
  free(memory);
  MPI_Type_free(&filetype);
  close_file(context, &file);
  if (context->rank == 0) remove(path_of(context, "data"));
}

// Who reads while another writes sees all of a write or nothing of it.
static void reads_among_writes(Context* context) {
  enum { bytes = 60000, rounds = 20 };
  MPI_File file = atomic_file(context);
  MPI_Datatype filetype;
  MPI_Type_vector(60, 1000, 1500, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 7, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  unsigned char* memory = calloc(bytes, 1);
  if (context->rank == 0) {
    CHECK_OK(context, MPI_File_write_at(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(context->comm);
  for (int round = 0; round < rounds; round++) {
    if (context->rank == 0) {
      memset(memory, round + 1, bytes);
      CHECK_OK(context, transfer(file, 1, round % 2 ? AT : AT | NONBLOCKING, 0, 0, memory, bytes,
                                 MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
      unsigned char last = memory[0];
      CHECK_OK(context, transfer(file, 0, round % 2 ? AT : AT | NONBLOCKING, 0, 0, memory, bytes,
                                 MPI_BYTE, MPI_STATUS_IGNORE));
      check_uniform(context, memory, bytes, "read");
      CHECK(context, memory[0] >= last);
    }
  }
  free(memory);
  MPI_Type_free(&filetype);
  close_file(context, &file);
}

// What one rank wrote another sees at once, without sync.
static void visible_at_once(Context* context) {
  MPI_File file = atomic_file(context);
  for (int round = 0; round < 5; round++) {
    int value = 100 * round + context->rank, seen = -1;
    int neighbour = (context->rank + 1 + round) % context->size;
    CHECK_OK(context, transfer(file, 1, round % 2 ? AT_ALL : AT, 0, 4 * context->rank, &value, 1,
                               MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    CHECK_OK(context, transfer(file, 0, round % 2 ? AT : AT_ALL, 0, 4 * neighbour, &seen, 1,
                               MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, 100 * round + neighbour);
    MPI_Barrier(context->comm);
  }
  CHECK_OK(context, MPI_File_set_atomicity(file, 0));
  int flag = -1;
  CHECK_OK(context, MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(context, flag, 0);
  close_file(context, &file);
}

// Calls through the shared pointer are whole too, with a view that all ranks share.
static void shared_pointer(Context* context) {
  enum { bytes = 5000 };
  MPI_File file = atomic_file(context);
  unsigned char* memory = malloc(bytes);
  memset(memory, 1 + context->rank, bytes);
  for (int round = 0; round < 3; round++) {
    CHECK_OK(context, MPI_File_write_shared(file, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(context->comm);
  for (int i = 0; i < 3 * context->size; i++) {
    CHECK_OK(context,
             MPI_File_read_at(file, i * bytes, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    check_uniform(context, memory, bytes, "shared");
    CHECK(context, memory[0] >= 1 && memory[0] <= context->size);
  }
  free(memory);
  close_file(context, &file);
  if (context->rank == 0) remove(path_of(context, "data"));
}

const Case atomic_cases[] = {{"atomic_same_places", same_places},
                             {"atomic_reads", reads_among_writes},
                             {"atomic_visible", visible_at_once},
                             {"atomic_shared", shared_pointer},
                             {NULL, NULL}};
