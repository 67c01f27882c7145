/* collectives_threads SEED ROUNDS LARGEST [dense]: some threads make random collective calls at the
 * same time, each on communicators of its own, of which it frees and makes some. Others exchange
 * messages meanwhile. All data is compared with plain loops. "with messages": some were sent while
 * a thread of the rank was in a collective call. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives.h"

enum { CALLERS = 2, SENDERS = 2, LONGEST = 1 << 16, PAUSE = 200 };

struct caller {
  MPI_Comm comm;
  unsigned seed;
  unsigned rounds;
  unsigned largest;
  unsigned wrong;
};

struct sender {
  MPI_Comm comm;
  unsigned messages;
  unsigned meanwhile; /* of these while a thread of the rank was in a call */
  unsigned wrong;
};

static atomic_int calling = CALLERS;
static atomic_int within_call = 0;
static pthread_barrier_t all_are_ready;

static void* call_all(void* given) {
  struct caller* const own = given;
  draw_from(own->seed);
  MPI_Comm anew = MPI_COMM_NULL;
  MPI_Comm_dup(own->comm, &anew);
  pthread_barrier_wait(&all_are_ready);
  for (unsigned call = 0; call < own->rounds; ++call) {
    if (draw(25) == 0) {
      MPI_Comm_free(&anew);
      MPI_Comm_dup(own->comm, &anew);
    }
    ++within_call;
    own->wrong += !run_drawn(call, own->largest, draw(2) == 0 ? own->comm : anew);
    --within_call;
  }
  MPI_Comm_free(&anew);
  --calling;
  return NULL;
}

static int value_of(int rank, unsigned message, int i) {
  return (int)(rank * 131u + message * 7u + (unsigned)i);
}

/* Round and round, short messages and long ones. Rank 0 says when that is enough. */
static void* send_all(void* given) {
  struct sender* const own = given;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(own->comm, &rank);
  MPI_Comm_size(own->comm, &size);
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  int* const out = malloc((LONGEST + 1) * sizeof *out);
  int* const in = malloc((LONGEST + 1) * sizeof *in);
  pthread_barrier_wait(&all_are_ready);
  for (int goes_on = 1; goes_on; ++own->messages) {
    const int length = own->messages % 3 == 2 ? LONGEST : (int)(own->messages % 40u);
    /* What rank 0 says goes round with the message. */
    if (rank == 0) goes_on = calling > 0;
    for (int i = 0; i < length; ++i) out[i] = value_of(rank, own->messages, i);
    out[length] = goes_on;
    MPI_Request requests[2];
    if (rank == 0) {
      own->meanwhile += within_call > 0;
      MPI_Irecv(in, length + 1, MPI_INT, before, 3, own->comm, &requests[0]);
      MPI_Isend(out, length + 1, MPI_INT, next, 3, own->comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Recv(in, length + 1, MPI_INT, before, 3, own->comm, MPI_STATUS_IGNORE);
      goes_on = out[length] = in[length];
      own->meanwhile += within_call > 0;
      MPI_Send(out, length + 1, MPI_INT, next, 3, own->comm);
    }
    int right = in[length] == goes_on;
    for (int i = 0; i < length; ++i) right &= in[i] == value_of(before, own->messages, i);
    own->wrong += !right;
    usleep(PAUSE);
  }
  free(out);
  free(in);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    puts("the MPI serves one thread only");
    MPI_Finalize();
    return 3;
  }
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
  const unsigned largest = argc > 3 ? (unsigned)atoi(argv[3]) : 3000;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_types(argc <= 4);
  pthread_t threads[CALLERS + SENDERS];
  struct caller callers[CALLERS];
  struct sender senders[SENDERS];
  for (int i = 0; i < CALLERS; ++i) {
    callers[i] = (struct caller){.seed = seed + i, .rounds = rounds, .largest = largest};
    MPI_Comm_dup(MPI_COMM_WORLD, &callers[i].comm);
  }
  for (int i = 0; i < SENDERS; ++i) {
    senders[i] = (struct sender){.messages = 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &senders[i].comm);
  }
  pthread_barrier_init(&all_are_ready, NULL, CALLERS + SENDERS);
  for (int i = 0; i < CALLERS; ++i) pthread_create(&threads[i], NULL, call_all, &callers[i]);
  for (int i = 0; i < SENDERS; ++i) {
    pthread_create(&threads[CALLERS + i], NULL, send_all, &senders[i]);
  }
  for (int i = 0; i < CALLERS + SENDERS; ++i) pthread_join(threads[i], NULL);
  unsigned wrong = 0;
  unsigned meanwhile = 0;
  pthread_barrier_destroy(&all_are_ready);
  for (int i = 0; i < CALLERS; ++i) {
    wrong += callers[i].wrong;
    MPI_Comm_free(&callers[i].comm);
  }
  for (int i = 0; i < SENDERS; ++i) {
    wrong += senders[i].wrong;
    meanwhile += senders[i].meanwhile;
    MPI_Comm_free(&senders[i].comm);
  }
  free_types();
  printf("rank %d: %u wrong, %s\n", rank, wrong, meanwhile > 0 ? "with messages" : "alone");
  MPI_Finalize();
  return wrong != 0;
}
