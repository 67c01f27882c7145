/* Calls and regions whose begin and end the program writes down itself.
 *
 *     timeline SEED STEPS TALLY [threads | kill]
 *
 * Each rank writes to TALLY.RANK a line for each call and region that has ended, "THREAD NAME BEGIN
 * END SENT RECEIVED PEER REGION", times in ns of CLOCK_MONOTONIC, the peer by its rank in
 * MPI_COMM_WORLD or -1; regions have "region:" before their label. With "kill" all ranks end up in
 * a call that does not return, and are killed. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pat_api.h"

enum { kThreads = 3, kMostDepth = 5, kMostValues = 64, kNobody = -1 };

struct note {
  char name[40];
  long begin, end, sent, received;
  int peer, region;
};

/* What one thread does: on communicators of its own, so that threads need no order. */
struct own {
  int thread;
  unsigned seed;
  int steps;
  MPI_Comm plain, reversed;
  struct note* notes;
  int count, room;
  int regions[kMostDepth];
  long begins[kMostDepth];
  int depth;
};

static int rank, size;
static __thread struct own* me;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static int region(void) {
  return me->depth == 0 ? 0 : me->regions[me->depth - 1];
}

static void note(const char* name, long begin, long sent, long received, int peer) {
  const long end = now();
  if (me->count == me->room) {
    me->room = me->room == 0 ? 1024 : 2 * me->room;
    me->notes = realloc(me->notes, (size_t)me->room * sizeof *me->notes);
    if (me->notes == NULL) abort();
  }
  struct note* const made = &me->notes[me->count++];
  *made = (struct note){.begin = begin,
                        .end = end,
                        .sent = sent,
                        .received = received,
                        .peer = peer,
                        .region = region()};
  snprintf(made->name, sizeof made->name, "%s", name);
}

#define CALL(name, sent, received, peer, call)       \
  do {                                               \
    const long begin_of_call = now();                \
    call;                                            \
    note(name, begin_of_call, sent, received, peer); \
  } while (0)

static unsigned chance(unsigned below) {
  me->seed = me->seed * 1103515245u + 12345u;
  return (me->seed >> 16) % below;
}

static void enter(void) {
  char label[20];
  const int id = 1 + (int)chance(6);
  snprintf(label, sizeof label, "part<%d>", id);
  me->begins[me->depth] = now();
  headrace_region_begin(id, label);
  me->regions[me->depth++] = id;
}

static void leave(void) {
  char name[40];
  const int id = region();
  const long begin = me->begins[me->depth - 1];
  headrace_region_end(id);
  me->depth--;
  snprintf(name, sizeof name, "region:part<%d>", id);
  note(name, begin, 0, 0, kNobody);
}

/* A function of the program that the library calls, and which calls MPI. */
static int forget(MPI_Comm comm, int key, void* value, void* extra) {
  int of;
  (void)key, (void)value, (void)extra;
  CALL("MPI_Comm_rank", 0, 0, kNobody, MPI_Comm_rank(comm, &of));
  return MPI_SUCCESS;
}

static void nest(MPI_Comm comm) {
  MPI_Comm copy;
  int key;
  CALL("MPI_Comm_create_keyval", 0, 0, kNobody,
       MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget, &key, NULL));
  CALL("MPI_Comm_dup", 0, 0, kNobody, MPI_Comm_dup(comm, &copy));
  CALL("MPI_Comm_set_attr", 0, 0, kNobody, MPI_Comm_set_attr(copy, key, NULL));
  CALL("MPI_Comm_free", 0, 0, kNobody, MPI_Comm_free(&copy));
  CALL("MPI_Comm_free_keyval", 0, 0, kNobody, MPI_Comm_free_keyval(&key));
}

static int in_world(MPI_Comm comm, int of) {
  return comm == me->reversed ? size - 1 - of : of;
}

static void pass_on(MPI_Comm comm, int with_requests) {
  int out[kMostValues] = {rank}, in[kMostValues];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  const int here = in_world(comm, rank); /* its own inverse */
  const int next = (here + 1) % size, before = (here + size - 1) % size;
  const int count = 1 + (int)chance(kMostValues);
  const long bytes = count * (long)sizeof *out;
  if (with_requests) {
    CALL("MPI_Irecv", 0, 0, kNobody, MPI_Irecv(in, count, MPI_INT, before, 1, comm, &requests[0]));
    CALL("MPI_Isend", bytes, 0, in_world(comm, next),
         MPI_Isend(out, count, MPI_INT, next, 1, comm, &requests[1]));
    CALL("MPI_Waitall", 0, 0, kNobody, MPI_Waitall(2, requests, statuses));
  } else if (here % 2 == 0 && here + 1 < size) {
    CALL("MPI_Send", bytes, 0, in_world(comm, here + 1),
         MPI_Send(out, count, MPI_INT, here + 1, 2, comm));
  } else if (here % 2 == 1) {
    /* It asks for more than comes, from whom it does not say. */
    CALL("MPI_Recv", 0, bytes, in_world(comm, here - 1),
         MPI_Recv(in, kMostValues, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE));
  } else {
    CALL("MPI_Sendrecv", bytes, bytes, rank,
         MPI_Sendrecv(out, count, MPI_INT, here, 3, in, count, MPI_INT, here, 3, comm,
                      MPI_STATUS_IGNORE));
  }
}

static void step(void) {
  double values[kMostValues] = {1}, sums[kMostValues];
  MPI_Comm comm = chance(2) ? me->plain : me->reversed;
  const int count = 1 + (int)chance(kMostValues);
  const long bytes = count * (long)sizeof *values;
  switch (chance(8)) {
    case 0: CALL("MPI_Barrier", 0, 0, kNobody, MPI_Barrier(comm)); break;
    case 1:
      CALL("MPI_Allreduce", bytes, 0, kNobody,
           MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm));
      break;
    case 2:
      CALL("MPI_Bcast", bytes, 0, kNobody, MPI_Bcast(values, count, MPI_DOUBLE, 0, comm));
      break;
    case 3: pass_on(comm, 1); break;
    case 4: pass_on(comm, 0); break;
    case 5: nest(comm); break;
    case 6:
      if (me->depth < kMostDepth) enter();
      break;
    default:
      if (me->depth > 0) leave();
  }
}

static void run(void) {
  for (int i = 0; i < me->steps; i++) step();
  while (me->depth > 0) leave();
}

/* One that ends early would leave its number to the next. */
static pthread_barrier_t all_are_done;

static void* run_thread(void* given) {
  me = given;
  run();
  pthread_barrier_wait(&all_are_done);
  return NULL;
}

static void start(struct own* own, int thread, unsigned seed, int steps) {
  *own = (struct own){.thread = thread, .seed = seed, .steps = steps};
}

static void make_communicators(struct own* own) {
  CALL("MPI_Comm_dup", 0, 0, kNobody, MPI_Comm_dup(MPI_COMM_WORLD, &own->plain));
  CALL("MPI_Comm_split", 0, 0, kNobody,
       MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &own->reversed));
}

static void write_tally(const char* tally, const struct own* all, int count) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", tally, rank);
  FILE* const file = fopen(name, "w");
  if (file == NULL) abort();
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < all[i].count; k++) {
      const struct note* const one = &all[i].notes[k];
      fprintf(file, "%d %s %ld %ld %ld %ld %d %d\n", all[i].thread, one->name, one->begin, one->end,
              one->sent, one->received, one->peer, one->region);
    }
  }
  if (fclose(file) != 0) abort();
}

/* Once all ranks are about to begin their last call, and a while later. */
static void* end_all(void* tally) {
  char name[4096];
  for (int i = 0; i < size; i++) {
    snprintf(name, sizeof name, "%s.%d", (const char*)tally, i);
    while (access(name, F_OK) != 0) usleep(1000);
  }
  sleep(2);
  kill(getpid(), SIGKILL);
  return NULL;
}

static void be_killed(char* tally) {
  pthread_t thread;
  int nothing;
  headrace_region_begin(7, "last");
  write_tally(tally, me, 1);
  if (pthread_create(&thread, NULL, &end_all, tally) != 0) abort();
  if (rank == 0) MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 99, me->plain, MPI_STATUS_IGNORE);
  MPI_Barrier(me->plain);
}

int main(int argc, char** argv) {
  struct own all[1 + kThreads];
  pthread_t threads[kThreads];
  int count = 1, level;
  if (argc < 4) return 2;
  const char* const way = argc > 4 ? argv[4] : "";
  const int has_threads = strcmp(way, "threads") == 0;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  start(&all[0], 0, (unsigned)atoi(argv[1]), atoi(argv[2]));
  me = &all[0];
  CALL("MPI_Comm_rank", 0, 0, kNobody, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CALL("MPI_Comm_size", 0, 0, kNobody, MPI_Comm_size(MPI_COMM_WORLD, &size));
  make_communicators(&all[0]);
  if (has_threads && level == MPI_THREAD_MULTIPLE) {
    pthread_barrier_init(&all_are_done, NULL, kThreads);
    for (; count <= kThreads; count++) {
      start(&all[count], count, all[0].seed + (unsigned)count, all[0].steps / (count + 1));
      make_communicators(&all[count]);
      pthread_create(&threads[count - 1], NULL, &run_thread, &all[count]);
    }
  }
  run();
  for (int i = 1; i < count; i++) pthread_join(threads[i - 1], NULL);
  if (strcmp(way, "kill") == 0) be_killed(argv[3]);
  write_tally(argv[3], all, count);
  MPI_Finalize();
  return 0;
}
