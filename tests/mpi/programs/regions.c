/* Phases of a program, which it tallies itself.
 *
 *     regions TALLY [threads]
 *
 * Each rank writes to TALLY.RANK, for each region and procedure, "REGION PROCEDURE CALLS BYTES",
 * the region by its label, or "-" outside all. Prints "noted N" on rank 0: what
 * headrace_region_begin returned after MPI_Init. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pat_api.h"

enum { kRows = 64, kThreads = 4 };
enum { whole = 1, solve = 2, halo = 3, with_pat = 40, shared_by_threads = 50 };

struct row {
  const char* region;
  const char* procedure;
  long calls;
  long bytes;
};

static struct row rows[kRows];
static int row_count;
static int is_off;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread const char* current = "-";

static void tally(const char* procedure, long bytes) {
  if (is_off) return;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < row_count &&
         (strcmp(rows[i].region, current) != 0 || strcmp(rows[i].procedure, procedure) != 0)) {
    i++;
  }
  if (i == kRows) abort();
  if (i == row_count) row_count++;
  rows[i].region = current;
  rows[i].procedure = procedure;
  rows[i].calls++;
  rows[i].bytes += bytes;
  pthread_mutex_unlock(&mutex);
}

static int rank, size;

/* One call site, which several regions come through. */
static void reduce(void) {
  double one = rank, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  tally("MPI_Allreduce", sizeof one);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  tally("MPI_Barrier", 0);
}

static void exchange(void) {
  int out[25] = {rank}, in[25];
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(out, 25, MPI_INT, next, 1, in, 25, MPI_INT, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  tally("MPI_Sendrecv", sizeof out);
}

static void step(void) {
  headrace_region_begin(solve, "solve");
  current = "solve";
  for (int i = 0; i < 3; i++) reduce();
  headrace_region_begin(halo, "halo");
  current = "halo";
  exchange();
  exchange();
  usleep(2000);
  headrace_region_end(halo);
  current = "solve";
  reduce();
  headrace_region_end(solve);
  current = "whole";
}

/* What begins while recording is on counts for the call that began it, whenever it ends. */
static void switch_within_a_message(void) {
  char in[300], out[300] = {0};
  MPI_Request receive, persistent;
  MPI_Irecv(in, sizeof in, MPI_BYTE, rank, 5, MPI_COMM_WORLD, &receive);
  tally("MPI_Irecv", sizeof in);
  headrace_record(HEADRACE_OFF);
  is_off = 1;
  MPI_Send(out, sizeof out, MPI_BYTE, rank, 5, MPI_COMM_WORLD);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Recv_init(in, sizeof in, MPI_BYTE, rank, 6, MPI_COMM_WORLD, &persistent);
  for (int i = 0; i < 4; i++) barrier();
  headrace_region_begin(solve, "solve");
  reduce();
  usleep(50000);
  headrace_region_end(solve);
  headrace_record(HEADRACE_ON);
  is_off = 0;
  MPI_Start(&persistent);
  tally("MPI_Start", 7); /* which arrive by it */
  MPI_Send(out, 7, MPI_BYTE, rank, 6, MPI_COMM_WORLD);
  tally("MPI_Send", 7);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  tally("MPI_Wait", 0);
  MPI_Request_free(&persistent);
  tally("MPI_Request_free", 0);
}

static void control(void) {
  MPI_Pcontrol(1);
  tally("MPI_Pcontrol", 0);
  MPI_Pcontrol(0);
  tally("MPI_Pcontrol", 0); /* it was on when the call began */
  is_off = 1;
  for (int i = 0; i < 3; i++) barrier();
  MPI_Pcontrol(1, "with", 2, 3.0);
  is_off = 0;
  MPI_Pcontrol(2);
  tally("MPI_Pcontrol", 0);
  MPI_Pcontrol(-7, "a region of another tool");
  tally("MPI_Pcontrol", 0);
}

static void use_pat(void) {
  unsigned long bytes = 9;
  if (PAT_region_begin(with_pat, "by CrayPat's names") != PAT_API_OK) abort();
  current = "by CrayPat's names";
  reduce();
  PAT_record(PAT_STATE_OFF);
  is_off = 1;
  barrier();
  PAT_record(PAT_STATE_ON);
  is_off = 0;
  if (PAT_flush_buffer(&bytes) != PAT_API_OK || bytes != 0) abort();
  if (PAT_region_end(with_pat) != PAT_API_OK) abort();
  current = "whole";
}

static const char* const thread_labels[kThreads] = {"thread 0", "thread 1", "thread 2", "thread 3"};

static void* work(void* place) {
  const int number = (int)(long)place;
  headrace_region_begin(shared_by_threads, "threads");
  for (int i = 0; i < 10 * (number + 1); i++) {
    int flag;
    headrace_region_begin(shared_by_threads + 1 + number, thread_labels[number]);
    current = thread_labels[number];
    MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    tally("MPI_Iprobe", 0);
    headrace_region_end(shared_by_threads + 1 + number);
  }
  current = "threads";
  int flag;
  MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  tally("MPI_Iprobe", 0);
  /* Not ended: the thread ends in it. */
  return NULL;
}

static void run_threads(void) {
  for (int round = 0; round < 2; round++) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, &work, (void*)i);
    for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  }
}

static void write_tally(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", name, rank);
  FILE* const file = fopen(path, "w");
  for (int i = 0; i < row_count; i++) {
    fprintf(file, "%s|%s|%ld|%ld\n", rows[i].region, rows[i].procedure, rows[i].calls,
            rows[i].bytes);
  }
  fclose(file);
}

int main(int argc, char** argv) {
  int provided;
  const int has_threads = argc > 2;
  headrace_region_begin(whole, "whole");
  current = "whole";
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tally("MPI_Comm_rank", 0);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tally("MPI_Comm_size", 0);
  const int noted = headrace_region_begin(solve, "solve");
  headrace_region_end(solve);
  if (has_threads) {
    run_threads();
  } else {
    for (int i = 0; i < 5; i++) step();
    switch_within_a_message();
    control();
    use_pat();
    /* Wrong, and harmless. */
    if (noted == 1 && headrace_region_end(77) != -1) abort();
    headrace_region_begin(solve, "solve");
    headrace_region_begin(halo, "another label");
    current = "halo";
    exchange();
    if (noted == 1 && headrace_region_end(solve) != -1) abort();
    current = "whole";
    if (headrace_region_begin(-1, "negative") != (noted == 1 ? -1 : 0)) abort();
  }
  barrier();
  headrace_region_end(whole);
  current = "-";
  barrier();
  MPI_Finalize();
  tally("MPI_Finalize", 0);
  write_tally(argv[1]);
  if (rank == 0) printf("noted %d\n", noted);
  return 0;
}
