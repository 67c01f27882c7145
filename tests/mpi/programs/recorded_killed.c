/* Calls MPI at random, and keeps a log of it that outlives a kill: before each call what it is
 * going to do, after the call what it has done. test_random_ends.py compares.
 *
 *     recorded_killed DIRECTORY SEED                        without end
 *     recorded_killed DIRECTORY SEED abort MICROSECONDS     then rank 0 calls MPI_Abort
 *     recorded_killed DIRECTORY SEED finalize ROUNDS        then all ranks call MPI_Finalize
 *
 * With an odd SEED a second thread calls MPI, too, if MPI serves threads.
 *
 * DIRECTORY/log.RANK holds 64-bit numbers: the process, how many procedures and ranks; then of each
 * procedure and each rank four numbers: calls (messages) begun, done, bytes begun, done.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "abort_job.h"

enum {
  RANK,
  SENDRECV,
  ISEND,
  IRECV,
  WAITALL,
  ALLREDUCE,
  GATHER,
  BCAST,
  DUP,
  FREE,
  ABORT,
  OPEN,
  WRITE,
  READ,
  CLOSE,
  FINALIZE,
  KINDS
};

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
static char data_path[4096]; /* a file of this rank */

/* Two threads count. */
static void add(volatile int64_t* number, int64_t more) {
  __atomic_fetch_add(number, more, __ATOMIC_SEQ_CST);
}

static void begin(int kind, int64_t bytes) {
  struct count* const count = &own->counts[kind];
  add(&count->bytes_begun, bytes);
  add(&count->begun, 1);
}

static void done(int kind, int64_t bytes) {
  struct count* const count = &own->counts[kind];
  add(&count->done, 1);
  add(&count->bytes_done, bytes);
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
  add(&received->bytes_begun, bytes);
  begin(WAITALL, 0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  done(WAITALL, 0);
  add(&received->bytes_done, bytes);
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

static void use_file(int bytes) {
  MPI_File file;
  begin(OPEN, 0);
  MPI_File_open(MPI_COMM_SELF, data_path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  done(OPEN, 0);
  begin(WRITE, bytes);
  MPI_File_write_at(file, 0, out, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  done(WRITE, bytes);
  begin(READ, bytes);
  MPI_File_read_at(file, 0, in, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  done(READ, bytes);
  begin(CLOSE, 0);
  MPI_File_close(&file);
  done(CLOSE, 0);
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
  switch (draw(5)) {
    case 0: shift(comm, bytes, (int)draw((unsigned)size)); break;
    case 1: exchange(comm, bytes, (int)draw((unsigned)size)); break;
    case 2: collect(comm, bytes); break;
    case 3:
      begin(RANK, 0);
      MPI_Comm_rank(comm, &unused);
      done(RANK, 0);
      break;
    case 4:
      if (draw(4) == 0) use_file(bytes);
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

/* A second thread, with a communicator of its own. */
static MPI_Comm of_second;
static volatile int second_goes_on = 1;

static void __attribute__((noinline)) send_to_itself(unsigned depth, unsigned path) {
  char sent = 1, received;
  int unused;
  if (depth > 0) {
    if (path % 2 == 0) send_to_itself(depth - 1, path / 2);
    if (path % 2 == 1) send_to_itself(depth - 1, path / 2);
    __asm__ volatile("");
    return;
  }
  begin(SENDRECV, 1);
  begin_message(rank, 1);
  MPI_Sendrecv(&sent, 1, MPI_BYTE, 0, 3, &received, 1, MPI_BYTE, 0, 3, of_second,
               MPI_STATUS_IGNORE);
  done(SENDRECV, 1);
  message_done(rank, 1);
  begin(RANK, 0);
  MPI_Comm_rank(of_second, &unused);
  done(RANK, 0);
}

static void* second(void* none) {
  for (unsigned path = 0; second_goes_on; path++) send_to_itself(path % 7, path);
  return none;
}

static void start_second(pthread_t* thread) {
  begin(DUP, 0);
  MPI_Comm_dup(MPI_COMM_SELF, &of_second);
  done(DUP, 0);
  if (pthread_create(thread, NULL, second, NULL) != 0) abort();
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 1, 15, 16, 255, 4096, 65536, 100000};
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size); /* not in the log */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_log(argv[1]);
  snprintf(data_path, sizeof data_path, "%s/data.%d", argv[1], rank);
  begin(RANK, 0);
  done(RANK, 0);
  state = strtoul(argv[2], NULL, 10);
  const int is_aborted = argc > 3 && strcmp(argv[3], "abort") == 0;
  const double end = is_aborted && rank == 0 ? now() + 1e-6 * atof(argv[4]) : 1e300;
  const long rounds = argc > 3 && !is_aborted ? atol(argv[4]) : -1;
  const int is_shared = state % 2 == 1 && provided == MPI_THREAD_MULTIPLE;
  if (is_shared) start_second(&thread);
  own->process = getpid();
  for (long i = 0; i != rounds && now() < end; i++) go_on(draw(7), draw(128), sizes[draw(8)]);
  if (rounds < 0) {
    begin(ABORT, 0);
    abort_job(3);
  }
  second_goes_on = 0;
  if (is_shared) pthread_join(thread, NULL);
  begin(FINALIZE, 0);
  MPI_Finalize();
  done(FINALIZE, 0);
  return 0;
}
