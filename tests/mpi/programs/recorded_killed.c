/* Calls MPI at random, without end, and keeps a log of it that outlives a kill: before each call
 * what it is going to do, after the call what it has done. test_random_ends.py compares.
 *
 *     recorded_killed DIRECTORY SEED [MICROSECONDS]     then rank 0 calls MPI_Abort
 *
 * DIRECTORY/log.RANK holds 64-bit numbers: the process, how many procedures and ranks; then of each
 * procedure and each rank four numbers: calls (messages) begun, done, bytes begun, done.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "abort_job.h"

enum { RANK, SENDRECV, ISEND, IRECV, WAITALL, ALLREDUCE, GATHER, BCAST, DUP, FREE, ABORT, KINDS };

struct count {
  volatile int64_t begun, done, bytes_begun, bytes_done;
};

struct log {
  volatile int64_t process, kinds, ranks;
  struct count counts[];
};

static struct log* own;
static int rank, size;
static unsigned long state; /* the same on all ranks */
static char out[1 << 17], in[1 << 17];

static void begin(int kind, int64_t bytes) {
  struct count* const count = &own->counts[kind];
  count->bytes_begun += bytes;
  count->begun++;
}

static void done(int kind, int64_t bytes) {
  struct count* const count = &own->counts[kind];
  count->done++;
  count->bytes_done += bytes;
}

static void begin_message(int to, int64_t bytes) {
  begin(KINDS + to, bytes);
}

static void message_done(int to, int64_t bytes) {
  done(KINDS + to, bytes);
}

static unsigned draw(unsigned limit) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (unsigned)(state >> 33) % limit;
}

static void shift(MPI_Comm comm, int bytes, int by) {
  const int to = (rank + by) % size, from = (rank - by + size) % size;
  begin(SENDRECV, bytes);
  begin_message(to, bytes);
  MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
  done(SENDRECV, bytes);
  message_done(to, bytes);
}

/* What arrives counts for MPI_Irecv, once it is there. */
static void exchange(MPI_Comm comm, int bytes, int by) {
  const int to = (rank + by) % size, from = (rank - by + size) % size;
  struct count* const received = &own->counts[IRECV];
  MPI_Request requests[2];
  begin(IRECV, 0);
  MPI_Irecv(in, bytes, MPI_BYTE, from, 2, comm, &requests[0]);
  done(IRECV, 0);
  begin(ISEND, bytes);
  begin_message(to, bytes);
  MPI_Isend(out, bytes, MPI_BYTE, to, 2, comm, &requests[1]);
  done(ISEND, bytes);
  message_done(to, bytes);
  received->bytes_begun += bytes;
  begin(WAITALL, 0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  done(WAITALL, 0);
  received->bytes_done += bytes;
}

static void collect(MPI_Comm comm, int bytes) {
  const int count = bytes / 8 / size + 1;
  begin(ALLREDUCE, 8);
  MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, comm);
  done(ALLREDUCE, 8);
  begin(GATHER, 8 * count);
  MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, comm);
  done(GATHER, 8 * count);
  begin(BCAST, bytes);
  MPI_Bcast(out, bytes, MPI_BYTE, size - 1, comm);
  done(BCAST, bytes);
}

/* By ever new call paths, so that the recorder's tables grow. */
static void __attribute__((noinline)) go_on(unsigned depth, unsigned path, int bytes) {
  if (depth > 0) {
    if (path % 2 == 0) go_on(depth - 1, path / 2, bytes);
    if (path % 2 == 1) go_on(depth - 1, path / 2, bytes);
    __asm__ volatile("");
    return;
  }
  MPI_Comm comm = MPI_COMM_WORLD;
  const int is_duplicate = draw(8) == 0;
  int unused;
  if (is_duplicate) {
    begin(DUP, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    done(DUP, 0);
  }
  switch (draw(4)) {
    case 0: shift(comm, bytes, (int)draw((unsigned)size)); break;
    case 1: exchange(comm, bytes, (int)draw((unsigned)size)); break;
    case 2: collect(comm, bytes); break;
    case 3:
      begin(RANK, 0);
      MPI_Comm_rank(comm, &unused);
      done(RANK, 0);
  }
  if (is_duplicate) {
    begin(FREE, 0);
    MPI_Comm_free(&comm);
    done(FREE, 0);
  }
}

static void make_log(const char* directory) {
  char path[4096];
  const size_t length = sizeof(struct log) + sizeof(struct count) * (size_t)(KINDS + size);
  snprintf(path, sizeof path, "%s/log.%d", directory, rank);
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ftruncate(file, (off_t)length) != 0) abort();
  own = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (own == MAP_FAILED) abort();
  close(file);
  own->kinds = KINDS;
  own->ranks = size;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 1, 15, 16, 255, 4096, 65536, 100000};
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size); /* not in the log */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_log(argv[1]);
  begin(RANK, 0);
  done(RANK, 0);
  state = strtoul(argv[2], NULL, 10);
  const double end = argc > 3 && rank == 0 ? now() + 1e-6 * atof(argv[3]) : 1e300;
  own->process = getpid();
  while (now() < end) go_on(draw(7), draw(128), sizes[draw(8)]);
  begin(ABORT, 0);
  abort_job(3);
}
