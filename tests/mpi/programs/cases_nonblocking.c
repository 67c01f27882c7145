// Nonblocking calls: what may happen while they are under way. How they are completed is seen in
// cases_completion.c, that they move the right bytes in cases_transfer.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

// Freed requests are done by the time the file is closed.
static void request_free(Context* context) {
  enum { blocks = 40, bytes = 1000 };
  unsigned char* memory = malloc(blocks * bytes);
  fill_pattern(memory, blocks * bytes, context->rank, 0);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < blocks; i++) {
    MPI_Request request;
    MPI_Offset offset = (MPI_Offset)(context->rank * blocks + i) * bytes;
    CHECK_OK(context,
             MPI_File_iwrite_at(file, offset, memory + i * bytes, bytes, MPI_BYTE, &request));
    CHECK_OK(context, MPI_Request_free(&request));
    CHECK(context, request == MPI_REQUEST_NULL);
  }
  close_file(context, &file);
  MPI_Barrier(context->comm);
  size_t length = 0;
  unsigned char* content = read_whole(path_of(context, "data"), &length);
  CHECK_EQUAL(context, length, (size_t)blocks * bytes * context->size);
  CHECK(context,
        content && memcmp(content + context->rank * blocks * bytes, memory, blocks * bytes) == 0);
  free(content);
  free(memory);
}

// A cancelled call did nothing or everything, and its status says which.
static void cancel(Context* context) {
  enum { blocks = 60, bytes = 20000 };
  if (!context->layered) return;  // what the libraries make of it differs and may end the program
  unsigned char* memory = malloc(blocks * bytes);
  memset(memory, 0x11, blocks * bytes);
  char name[20];
  snprintf(name, sizeof name, "data%d", context->rank);
  MPI_File file = open_file(context, MPI_COMM_SELF, name,
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(context, MPI_File_set_size(file, blocks * bytes));
  MPI_Request requests[blocks];
  MPI_Status statuses[blocks];
  for (int i = 0; i < blocks; i++) {
    CHECK_OK(context, MPI_File_iwrite_at(file, (MPI_Offset)i * bytes, memory + i * bytes, bytes,
                                         MPI_BYTE, &requests[i]));
  }
  for (int i = blocks - 1; i >= 0; i -= 2) CHECK_OK(context, MPI_Cancel(&requests[i]));
  CHECK_OK(context, MPI_Waitall(blocks, requests, statuses));
  for (int i = 0; i < blocks; i++) {
    unsigned char back[bytes];
    int cancelled = -1, count = -1;
    MPI_Test_cancelled(&statuses[i], &cancelled);
    if (i % 2 == 0) CHECK_EQUAL(context, cancelled, 0);
    if (!cancelled) MPI_Get_count(&statuses[i], MPI_BYTE, &count);
    if (!cancelled) CHECK_EQUAL(context, count, bytes);
    CHECK_OK(context, MPI_File_read_at(file, (MPI_Offset)i * bytes, back, bytes, MPI_BYTE,
                                       MPI_STATUS_IGNORE));
    for (int k = 0; k < bytes; k++) {
      if (back[k] == (cancelled ? 0 : 0x11)) continue;
      fail(context, __FILE__, __LINE__, "block %d, cancelled %d: byte %d is %d", i, cancelled, k,
           back[k]);
      break;
    }
  }
  free(memory);
  close_file(context, &file);
}

// Hundreds under way at once, by every independent procedure, completed bit by bit.
static void many(Context* context) {
  enum { count = 300, bytes = 64 };
  static MPI_Request requests[count];
  static MPI_Status statuses[count];
  static int indices[count];
  unsigned char* memory = malloc(count * bytes);
  unsigned char* back = calloc(count, bytes);
  fill_pattern(memory, count * bytes, context->rank, 0);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset first = (MPI_Offset)context->rank * count * bytes;
  CHECK_OK(context, MPI_File_seek(file, first, MPI_SEEK_SET));
  for (int i = 0; i < count; i++) {  // the pointer has moved when the call is begun
    CHECK_OK(context, MPI_File_iwrite(file, memory + i * bytes, bytes, MPI_BYTE, &requests[i]));
  }
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, first + count * bytes);
  for (int left = count; left > 0;) {
    int some = 0;
    CHECK_OK(context, MPI_Waitsome(count, requests, &some, indices, statuses));
    CHECK(context, some > 0);
    if (some <= 0) break;
    left -= some;
  }
  for (int i = count - 1; i >= 0; i--) {
    CHECK_OK(context, MPI_File_iread_at(file, first + i * bytes, back + i * bytes, bytes, MPI_BYTE,
                                        &requests[i]));
  }
  CHECK_OK(context, MPI_Waitall(count, requests, statuses));
  CHECK(context, memcmp(memory, back, count * bytes) == 0);
  close_file(context, &file);
  free(back);
  free(memory);
}

// Nobody has anything, or only some ranks have.
static void zero(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int method = 0; method <= METHOD_COUNT; method++) {
    for (int writing = 0; writing < 2; writing++) {
      MPI_Status status;
      int count = -1;
      if (method == SHARED && !context->layered) continue;  // they leave a file of their own
      CHECK_OK(context, transfer(file, writing, method | NONBLOCKING, writing, 0, NULL, 0, MPI_INT,
                                 &status));
      MPI_Get_count(&status, MPI_INT, &count);
      CHECK_EQUAL(context, count, 0);
    }
  }
  int value = 9, seen = 0, last = context->rank == context->size - 1;
  CHECK_OK(context,
           transfer(file, 1, AT_ALL | NONBLOCKING, 0, 8, &value, last, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  CHECK_OK(context,
           transfer(file, 0, AT_ALL | NONBLOCKING, 0, 8, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, 9);
  close_file(context, &file);
}

// A view of many small pieces of all ranks in turn, so that a collective call joins them.
static void interleaved_view(Context* context, MPI_File file) {
  MPI_Datatype filetype, resized;
  MPI_Type_contiguous(5, MPI_INT, &filetype);
  MPI_Type_create_resized(filetype, 0, 20 * context->size, &resized);
  MPI_Type_commit(&resized);
  CHECK_OK(context,
           MPI_File_set_view(file, 20 * context->rank, MPI_INT, resized, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&resized);
}

enum { integers = 2000 };

static void number_them(int* values, int first) {
  for (int i = 0; i < integers; i++) values[i] = first + i;
}

// Once all ranks have begun a collective call it ends, also where one of them does not care: here
// the even ranks wait for a message that their partner sends after its own part is done.
static void receive_meanwhile(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  interleaved_view(context, file);
  int partner = context->rank ^ 1, word = 1;
  if (partner >= context->size) partner = MPI_PROC_NULL;
  int values[integers], back[integers];
  for (int turn = 0; turn < 4; turn++) {
    int writing = turn % 2 == 0, receives_first = (context->rank + turn / 2) % 2 == 0;
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    number_them(values, 100000 * context->rank + turn / 2);
    memset(back, 0, sizeof back);
    CHECK_OK(context, start_transfer(file, writing, AT_ALL, 0, turn / 2 * integers,
                                     writing ? values : back, integers, MPI_INT, &request));
    if (receives_first) {
      MPI_Recv(&word, 1, MPI_INT, partner, 4, context->comm, MPI_STATUS_IGNORE);
    }
    CHECK_OK(context, MPI_Wait(&request, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, integers);
    if (!receives_first) MPI_Send(&word, 1, MPI_INT, partner, 4, context->comm);
    if (!writing) CHECK(context, memcmp(values, back, sizeof values) == 0);
  }
  close_file(context, &file);
}

// Several collective calls of two files under way, waited for in another order on each rank, with
// blocking collective calls between.
static void order_of_waits(Context* context) {
  enum { calls = 3 };
  MPI_File files[2];
  MPI_Request requests[2][calls];
  int (*values)[calls][integers] = malloc(2 * sizeof *values);
  int* back = malloc(sizeof(int) * integers);
  files[0] = open_file(context, context->comm, "first", MPI_MODE_CREATE | MPI_MODE_RDWR);
  files[1] = open_file(context, context->comm, "second", MPI_MODE_CREATE | MPI_MODE_RDWR);
  interleaved_view(context, files[0]);
  interleaved_view(context, files[1]);
  for (int call = 0; call < calls; call++) {
    for (int i = 0; i < 2; i++) {
      number_them(values[i][call], 100000 * context->rank + 10000 * i + 1000 * call);
      CHECK_OK(context, start_transfer(files[i], 1, ALL, 0, 0, values[i][call], integers, MPI_INT,
                                       &requests[i][call]));
    }
  }
  for (int i = 0; i < 2 * calls; i++) {
    int index = context->rank % 2 ? 2 * calls - 1 - i : i;
    CHECK_OK(context, MPI_Wait(&requests[index % 2][index / 2], MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < 2; i++) {
    MPI_Request request;
    CHECK_OK(context, start_transfer(files[i], 0, AT_ALL, 0, 0, back, integers, MPI_INT, &request));
    int* other = malloc(sizeof(int) * integers);
    CHECK_OK(context, transfer(files[i], 0, AT_ALL, 0, integers, other, integers, MPI_INT,
                               MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(back, values[i][0], sizeof values[i][0]) == 0);
    CHECK(context, memcmp(other, values[i][1], sizeof values[i][1]) == 0);
    free(other);
    close_file(context, &files[i]);
  }
  free(back);
  free(values);
}

// The datatype may be freed, the view changed and the file closed as soon as that is allowed.
static void types_and_views(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  interleaved_view(context, file);
  int values[20], back[20];
  for (int i = 0; i < 20; i++) values[i] = 100 * context->rank + i;
  MPI_Datatype every_second;
  MPI_Request request;
  MPI_Type_vector(10, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  CHECK_OK(context, MPI_File_iwrite(file, values, 1, every_second, &request));
  MPI_Type_free(&every_second);
  CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  for (int half = 0; half < 2; half++) {
    MPI_Offset offset = 20 * (half * context->size + context->rank);
    CHECK_OK(context, MPI_File_iread_at(file, offset, back + 5 * half, 20, MPI_BYTE, &request));
    CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < 10; i++) CHECK_EQUAL(context, back[i], values[2 * i]);
  close_file(context, &file);
}

const Case nonblocking_cases[] = {{"nonblocking_free", request_free},
                                  {"nonblocking_cancel", cancel},
                                  {"nonblocking_many", many},
                                  {"nonblocking_zero", zero},
                                  {"nonblocking_receive", receive_meanwhile},
                                  {"nonblocking_order", order_of_waits},
                                  {"nonblocking_types", types_and_views},
                                  {NULL, NULL}};
