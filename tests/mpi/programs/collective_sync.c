/* collective_sync PATH: calls each blocking collective operation when the last rank has made a file
 * PATH.<number>, which it does late. Each rank tells which operations it has left before that. Then
 * come calls before which nobody meets: nonblocking ones, those between groups, and those of one
 * rank. With the argument `large`: the same by the forms with large counts. `counts`: 10 broadcasts
 * and 4 gathers on each of two communicators, by both forms in turns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERATIONS 16
#define MOST_RANKS 16

static int sent[MOST_RANKS];
static int received[MOST_RANKS];
static int ones[MOST_RANKS];
static int places[MOST_RANKS];
static int bytes_of[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];

#define CALL(NAME, ONES, PLACES, BYTES)                                                            \
  const MPI_Datatype type = MPI_INT;                                                               \
  switch (operation) {                                                                             \
    case 0: NAME(Bcast)(sent, 1, type, 0, comm); break;                                            \
    case 1: NAME(Reduce)(sent, received, 1, type, MPI_SUM, 0, comm); break;                        \
    case 2: NAME(Allreduce)(sent, received, 1, type, MPI_SUM, comm); break;                        \
    case 3: NAME(Scan)(sent, received, 1, type, MPI_SUM, comm); break;                             \
    case 4: NAME(Exscan)(sent, received, 1, type, MPI_SUM, comm); break;                           \
    case 5: NAME(Gather)(sent, 1, type, received, 1, type, 0, comm); break;                        \
    case 6: NAME(Gatherv)(sent, 1, type, received, ONES, PLACES, type, 0, comm); break;            \
    case 7: NAME(Scatter)(sent, 1, type, received, 1, type, 0, comm); break;                       \
    case 8: NAME(Scatterv)(sent, ONES, PLACES, type, received, 1, type, 0, comm); break;           \
    case 9: NAME(Allgather)(sent, 1, type, received, 1, type, comm); break;                        \
    case 10: NAME(Allgatherv)(sent, 1, type, received, ONES, PLACES, type, comm); break;           \
    case 11: NAME(Alltoall)(sent, 1, type, received, 1, type, comm); break;                        \
    case 12: NAME(Alltoallv)(sent, ONES, PLACES, type, received, ONES, PLACES, type, comm); break; \
    case 13: NAME(Alltoallw)(sent, ONES, BYTES, types, received, ONES, BYTES, types, comm); break; \
    case 14: NAME(Reduce_scatter)(sent, received, ONES, type, MPI_SUM, comm); break;               \
    default: NAME(Reduce_scatter_block)(sent, received, 1, type, MPI_SUM, comm); break;            \
  }

#define SMALL(NAME) MPI_##NAME
static void call(int operation, MPI_Comm comm) {
  CALL(SMALL, ones, places, bytes_of)
}

/* The form with large counts, where the library has it. */
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
static MPI_Count large_ones[MOST_RANKS];
static MPI_Aint large_places[MOST_RANKS];
static MPI_Aint large_bytes[MOST_RANKS];
#define LARGE(NAME) MPI_##NAME##_c
static void call_large(int operation, MPI_Comm comm) {
  for (int i = 0; i < MOST_RANKS; ++i) {
    large_ones[i] = ones[i];
    large_places[i] = places[i];
    large_bytes[i] = bytes_of[i];
  }
  CALL(LARGE, large_ones, large_places, large_bytes)
}
#else
static void call_large(int operation, MPI_Comm comm) {
  call(operation, comm);
}
#endif

static int has(const char* path, int operation) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", path, operation);
  return access(name, F_OK) == 0;
}

static void make(const char* path, int operation) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", path, operation);
  fclose(fopen(name, "w"));
}

/* A barrier before any of these would wait for a rank that waits for this one. */
static void call_without_meeting(int rank, int size) {
  MPI_Request request;
  int token = 0;
  if (rank == 0) {
    MPI_Ibcast(sent, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (int to = 1; to < size; ++to) MPI_Send(&token, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibcast(sent, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Comm half;
  MPI_Comm between;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 2, &between);
  MPI_Bcast(sent, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, between);
  MPI_Allreduce(sent, received, 1, MPI_INT, MPI_SUM, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  if (rank == 0) MPI_Allreduce(sent, received, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void call_often(void) {
  MPI_Comm again;
  MPI_Comm_dup(MPI_COMM_WORLD, &again);
  for (int i = 0; i < 10; ++i) {
    /* In turns: each communicator has a count of its own. */
    void (*const form)(int, MPI_Comm) = i % 2 ? &call_large : &call;
    form(0, MPI_COMM_WORLD);
    form(0, again);
    if (i < 4) form(5, MPI_COMM_WORLD);
    if (i < 4) form(5, again);
  }
  MPI_Comm_free(&again);
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS || argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < size; ++i) {
    ones[i] = 1;
    places[i] = i;
    bytes_of[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  char early[8 * OPERATIONS] = "";
  const char* const way = argc > 2 ? argv[2] : "";
  if (strcmp(way, "counts") == 0) {
    call_often();
  } else {
    void (*const form)(int, MPI_Comm) = strcmp(way, "large") == 0 ? &call_large : &call;
    for (int operation = 0; operation < OPERATIONS; ++operation) {
      if (rank == size - 1) {
        usleep(20000);
        make(argv[1], operation);
      }
      form(operation, MPI_COMM_WORLD);
      if (!has(argv[1], operation)) sprintf(early + strlen(early), " %d", operation);
    }
    if (size > 1) call_without_meeting(rank, size);
  }
  printf("rank %d early:%s\n", rank, early);
  MPI_Finalize();
  return 0;
}
