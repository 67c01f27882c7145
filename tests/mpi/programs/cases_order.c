// What happens beside a file call: messages under way, other threads, ranks that come late.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

// Every rank has a large message under way to its neighbour when the even ranks enter write_all;
// the odd ones receive first. It ends only if a rank waiting inside write_all lets messages
// progress.
static void pending_send(Context* context) {
  enum { length = 1 << 22 };
  if (context->size < 2) return;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  unsigned char* out = malloc(length);
  unsigned char* in = malloc(length);
  int partner = context->rank ^ 1;
  if (partner >= context->size) partner = MPI_PROC_NULL;
  MPI_Request request;
  int even = context->rank % 2 == 0;
  fill_pattern(out, 1 << 12, context->rank, 0);
  if (even) MPI_Isend(out, length, MPI_BYTE, partner, 3, context->comm, &request);
  if (!even) MPI_Recv(in, length, MPI_BYTE, partner, 3, context->comm, MPI_STATUS_IGNORE);
  CHECK_OK(context, MPI_File_write_at_all(file, 3000 * context->rank, out, 3000, MPI_BYTE,
                                          MPI_STATUS_IGNORE));
  if (even) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!even) CHECK_EQUAL(context, in[77], pattern(partner, 77));
  free(in);
  free(out);
  close_file(context, &file);
}

// One rank comes late to each collective call, another one each time.
static void late_ranks(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int round = 0; round < 4; round++) {
    unsigned char bytes[100], back[100];
    if (round % context->size == context->rank) usleep(30000);
    fill_pattern(bytes, sizeof bytes, context->rank, round);
    MPI_Offset offset = 100 * (round * context->size + context->rank);
    CHECK_OK(context, MPI_File_write_at_all(file, offset, bytes, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_read_at_all(file, offset, back, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(bytes, back, 100) == 0);
  }
  close_file(context, &file);
}

// Two files at once over one communicator, calls interleaved.
static void two_files(Context* context) {
  MPI_File files[2];
  files[0] = open_file(context, context->comm, "first", MPI_MODE_CREATE | MPI_MODE_RDWR);
  files[1] = open_file(context, context->comm, "second", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < 6; i++) {
    int value = 10 * context->rank + i;
    CHECK_OK(context, MPI_File_write_at_all(files[i % 2], 4 * (i * context->size + context->rank),
                                            &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  close_file(context, &files[0]);
  close_file(context, &files[1]);
}

typedef struct {
  Context context;
  int number;
} Worker;

static void* work(void* argument) {
  Worker* worker = argument;
  Context* context = &worker->context;
  char name[32];
  snprintf(name, sizeof name, "data%d", worker->number);
  MPI_File file = open_file(context, context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype, resized;
  MPI_Type_contiguous(10, MPI_INT, &filetype);
  MPI_Type_create_resized(filetype, 0, 40 * context->size, &resized);
  MPI_Type_commit(&resized);
  CHECK_OK(context,
           MPI_File_set_view(file, 40 * context->rank, MPI_INT, resized, "native", MPI_INFO_NULL));
  int values[50], back[50];
  for (int i = 0; i < 50; i++) values[i] = 10000 * worker->number + 100 * context->rank + i;
  CHECK_OK(context, MPI_File_write_all(file, values, 50, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at_all(file, 0, back, 50, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(values, back, sizeof values) == 0);
  MPI_Type_free(&filetype);
  MPI_Type_free(&resized);
  close_file(context, &file);
  return NULL;
}

// Threads that each use a file of their own, on communicators of their own, at the same time.
static void threads(Context* context) {
  enum { workers = 2 };
  if (context->thread_level < MPI_THREAD_MULTIPLE) {
    note(context, "no MPI_THREAD_MULTIPLE");
    return;
  }
  Worker worker[workers];
  pthread_t thread[workers];
  for (int i = 0; i < workers; i++) {
    worker[i] = (Worker){*context, i};
    worker[i].context.log = calloc(1 << 16, 1);
    worker[i].context.log_used = 0;
    MPI_Comm_dup(context->comm, &worker[i].context.comm);
  }
  for (int i = 0; i < workers; i++) pthread_create(&thread[i], NULL, work, &worker[i]);
  for (int i = 0; i < workers; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < workers; i++) {
    if (worker[i].context.failures) {
      fail(context, __FILE__, __LINE__, "thread %d:\n%s", i, worker[i].context.log);
    }
    free(worker[i].context.log);
    MPI_Comm_free(&worker[i].context.comm);
  }
}

const Case order_cases[] = {{"order_pending_send", pending_send},
                            {"order_late_ranks", late_ranks},
                            {"order_two_files", two_files},
                            {"order_threads", threads},
                            {NULL, NULL}};
