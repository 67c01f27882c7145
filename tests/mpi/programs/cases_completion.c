// Nonblocking calls: the ways to complete them, alone and among messages.
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

enum { pieces = 5, piece_bytes = 3000 };

/// Requests of both kinds: even ones write or read a piece of the file, odd ones are messages of
/// this rank to itself.
typedef struct {
  MPI_Request requests[3 * pieces];
  MPI_Status statuses[3 * pieces];
  int seen[3 * pieces];  ///< how often each was said to be complete
  unsigned char bytes[pieces][piece_bytes];
  int sent[pieces], received[pieces];
} Mixture;

static MPI_Offset place_of(const Context* context, int piece) {
  return (MPI_Offset)(piece * context->size + context->rank) * piece_bytes;
}

static void start_mixture(Context* context, Mixture* mixture, MPI_File file, int writing) {
  memset(mixture, 0, sizeof *mixture);
  for (int i = 0; i < pieces; i++) {
    MPI_Request* requests = &mixture->requests[3 * i];
    if (writing) fill_pattern(mixture->bytes[i], piece_bytes, context->rank, i * piece_bytes);
    mixture->sent[i] = 70 + i;
    requests[0] = requests[1] = requests[2] = MPI_REQUEST_NULL;
    CHECK_OK(context, start_transfer(file, writing, AT, i % 2, place_of(context, i),
                                     mixture->bytes[i], piece_bytes, MPI_BYTE, &requests[0]));
    CHECK(context, requests[0] != MPI_REQUEST_NULL);
    MPI_Irecv(&mixture->received[i], 1, MPI_INT, context->rank, i, context->comm, &requests[1]);
    MPI_Isend(&mixture->sent[i], 1, MPI_INT, context->rank, i, context->comm, &requests[2]);
  }
}

static void check_mixture(Context* context, Mixture* mixture) {
  for (int i = 0; i < 3 * pieces; i++) {
    CHECK(context, mixture->requests[i] == MPI_REQUEST_NULL);
    CHECK_EQUAL(context, mixture->seen[i], 1);
    if (i % 3 == 2) continue;
    int count = -1, cancelled = -1;
    MPI_Get_count(&mixture->statuses[i], i % 3 ? MPI_INT : MPI_BYTE, &count);
    MPI_Test_cancelled(&mixture->statuses[i], &cancelled);
    CHECK_EQUAL(context, count, i % 3 ? 1 : piece_bytes);
    CHECK_EQUAL(context, cancelled, 0);
    if (i % 3 == 1) CHECK_EQUAL(context, mixture->statuses[i].MPI_SOURCE, context->rank);
    if (i % 3 == 1) CHECK_EQUAL(context, mixture->received[i / 3], 70 + i / 3);
  }
  for (int i = 0; i < pieces; i++) {
    unsigned char wanted[piece_bytes];
    fill_pattern(wanted, piece_bytes, context->rank, i * piece_bytes);
    CHECK(context, memcmp(wanted, mixture->bytes[i], piece_bytes) == 0);
  }
}

// Each of these completes all of a mixture. The order of the first two is not the requests'.
static void by_wait(Context* context, Mixture* mixture) {
  for (int i = 3 * pieces - 1; i >= 0; i--) {
    CHECK_OK(context, MPI_Wait(&mixture->requests[i], &mixture->statuses[i]));
    mixture->seen[i]++;
  }
}
static void by_test(Context* context, Mixture* mixture) {
  for (int left = 3 * pieces, i = 0; left > 0; i = (i + 7) % (3 * pieces)) {
    int flag = 0;
    if (mixture->seen[i]) continue;
    CHECK_OK(context, MPI_Test(&mixture->requests[i], &flag, &mixture->statuses[i]));
    mixture->seen[i] += flag;
    left -= flag;
  }
}
static void count_one(Context* context, Mixture* mixture, int index, const MPI_Status* status) {
  CHECK(context, index >= 0 && index < 3 * pieces);
  if (index < 0 || index >= 3 * pieces) return;
  mixture->seen[index]++;
  mixture->statuses[index] = *status;
}
static void by_waitany(Context* context, Mixture* mixture) {
  MPI_Status status;
  int index = -1;
  for (int i = 0; i < 3 * pieces; i++) {
    CHECK_OK(context, MPI_Waitany(3 * pieces, mixture->requests, &index, &status));
    count_one(context, mixture, index, &status);
  }
  CHECK_OK(context, MPI_Waitany(3 * pieces, mixture->requests, &index, &status));
  CHECK_EQUAL(context, index, MPI_UNDEFINED);
}
static void by_testany(Context* context, Mixture* mixture) {
  for (;;) {
    MPI_Status status;
    int index = -1, flag = 0;
    CHECK_OK(context, MPI_Testany(3 * pieces, mixture->requests, &index, &flag, &status));
    if (flag && index == MPI_UNDEFINED) return;
    if (flag) count_one(context, mixture, index, &status);
  }
}
static void by_waitall(Context* context, Mixture* mixture) {
  CHECK_OK(context, MPI_Waitall(3 * pieces, mixture->requests, mixture->statuses));
  for (int i = 0; i < 3 * pieces; i++) mixture->seen[i]++;
}
static void by_testall(Context* context, Mixture* mixture) {
  int flag = 0;
  while (!flag) {
    CHECK_OK(context, MPI_Testall(3 * pieces, mixture->requests, &flag, mixture->statuses));
  }
  for (int i = 0; i < 3 * pieces; i++) mixture->seen[i]++;
}
static void some(Context* context, Mixture* mixture,
                 int (*call)(int, MPI_Request*, int*, int*, MPI_Status*)) {
  for (;;) {
    MPI_Status statuses[3 * pieces];
    int indices[3 * pieces], count = 0;
    CHECK_OK(context, call(3 * pieces, mixture->requests, &count, indices, statuses));
    if (count == MPI_UNDEFINED) return;
    for (int i = 0; i < count; i++) count_one(context, mixture, indices[i], &statuses[i]);
  }
}
static void by_waitsome(Context* context, Mixture* mixture) {
  some(context, mixture, MPI_Waitsome);
}
static void by_testsome(Context* context, Mixture* mixture) {
  some(context, mixture, MPI_Testsome);
}

static void complete(Context* context, void (*by)(Context*, Mixture*)) {
  Mixture* mixture = malloc(sizeof *mixture);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int writing = 1; writing >= 0; writing--) {
    start_mixture(context, mixture, file, writing);
    by(context, mixture);
    check_mixture(context, mixture);
  }
  close_file(context, &file);
  free(mixture);
}

#define COMPLETION_CASE(by)                \
  static void run_##by(Context* context) { \
    complete(context, by);                 \
  }
COMPLETION_CASE(by_wait)
COMPLETION_CASE(by_test)
COMPLETION_CASE(by_waitany)
COMPLETION_CASE(by_testany)
COMPLETION_CASE(by_waitall)
COMPLETION_CASE(by_testall)
COMPLETION_CASE(by_waitsome)
COMPLETION_CASE(by_testsome)

// The state can be looked at without an end to the request, and statuses may be ignored.
static void get_status(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int value = 5 + context->rank, seen = 0, flag = 0, count = -1;
  MPI_Request request, pair[2];
  MPI_Status status;
  CHECK_OK(context, MPI_File_iwrite_at(file, 4 * context->rank, &value, 1, MPI_INT, &request));
  while (!flag) CHECK_OK(context, MPI_Request_get_status(request, &flag, &status));
  CHECK(context, request != MPI_REQUEST_NULL);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(context, count, 1);
  CHECK_OK(context, MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, flag, 1);
  count = -1;
  CHECK_OK(context, MPI_Wait(&request, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(context, count, 1);
  CHECK(context, request == MPI_REQUEST_NULL);
  CHECK_OK(context, MPI_Wait(&request, &status));  // a null request is complete and empty
  CHECK_OK(context, MPI_File_iread_at(file, 4 * context->rank, &seen, 1, MPI_INT, &pair[0]));
  pair[1] = MPI_REQUEST_NULL;
  CHECK_OK(context, MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
  CHECK_EQUAL(context, seen, value);
  close_file(context, &file);
}

const Case completion_cases[] = {
    {"nonblocking_wait", run_by_wait},         {"nonblocking_test", run_by_test},
    {"nonblocking_waitany", run_by_waitany},   {"nonblocking_testany", run_by_testany},
    {"nonblocking_waitall", run_by_waitall},   {"nonblocking_testall", run_by_testall},
    {"nonblocking_waitsome", run_by_waitsome}, {"nonblocking_testsome", run_by_testsome},
    {"nonblocking_get_status", get_status},    {NULL, NULL}};
