// Calls collective operations to which one rank after the other comes late, takes down when each
// rank entered and left them by a clock of its own, and writes on rank 0 how long ranks waited.
// With an argument the first rank is always the late one.
//
//   wait PROCEDURE CALLS LEAST MOST      seconds of all ranks; LEAST: for ranks that the call needs
//   awaited RANK SECONDS                 how long others waited for it
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostCalls = 1024, kMostRanks = 16, kDelay = 3000000 /* ns */ };

struct Call {
  int operation;
  int communicator;  // each has calls of its own, in one order on all its ranks
  int root;
  int rank;  // of this process, in it
  int size;
  int members[kMostRanks];
  double begin;
  double end;
};

static struct Call calls[kMostCalls];
static int call_count = 0;
static int world_rank;
static int is_first_late = 0;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest(long ns) {
  const struct timespec time = {0, ns};
  nanosleep(&time, NULL);
}

static double in[kMostRanks * 64], out[kMostRanks * 64];
static int counts[kMostRanks], places[kMostRanks];

enum { kOperations = 14 };
static const char* const kNames[kOperations] = {"MPI_Barrier",
                                                "MPI_Allreduce",
                                                "MPI_Allgather",
                                                "MPI_Alltoall",
                                                "MPI_Reduce_scatter_block",
                                                "MPI_Reduce_scatter",
                                                "MPI_Bcast",
                                                "MPI_Scatter",
                                                "MPI_Scatterv",
                                                "MPI_Reduce",
                                                "MPI_Gather",
                                                "MPI_Gatherv",
                                                "MPI_Scan",
                                                "MPI_Exscan"};

static void call(int operation, int root, MPI_Comm comm) {
  switch (operation) {
    case 0: MPI_Barrier(comm); break;
    case 1: MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, comm); break;
    case 2: MPI_Allgather(in, 8, MPI_DOUBLE, out, 8, MPI_DOUBLE, comm); break;
    case 3: MPI_Alltoall(in, 8, MPI_DOUBLE, out, 8, MPI_DOUBLE, comm); break;
    case 4: MPI_Reduce_scatter_block(in, out, 8, MPI_DOUBLE, MPI_SUM, comm); break;
    case 5: MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, comm); break;
    case 6: MPI_Bcast(in, 8, MPI_DOUBLE, root, comm); break;
    case 7: MPI_Scatter(in, 8, MPI_DOUBLE, out, 8, MPI_DOUBLE, root, comm); break;
    case 8: MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, 8, MPI_DOUBLE, root, comm); break;
    case 9: MPI_Reduce(in, out, 8, MPI_DOUBLE, MPI_SUM, root, comm); break;
    case 10: MPI_Gather(in, 8, MPI_DOUBLE, out, 8, MPI_DOUBLE, root, comm); break;
    case 11: MPI_Gatherv(in, 8, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, root, comm); break;
    case 12: MPI_Scan(in, out, 8, MPI_DOUBLE, MPI_SUM, comm); break;
    case 13: MPI_Exscan(in, out, 8, MPI_DOUBLE, MPI_SUM, comm); break;
  }
}

static int needs(int operation, int root, int own, int other) {
  if (operation == 8 || operation == 11) return 0;  // blocks might be empty
  if (operation < 6) return 1;
  if (operation < 9) return other == root;
  if (operation < 12) return own == root;
  return other < own;
}

static void round_of_calls(int number, MPI_Comm comm, int communicator) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Group own, world;
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int places_in[kMostRanks], members[kMostRanks];
  for (int i = 0; i < size; ++i) places_in[i] = i;
  MPI_Group_translate_ranks(own, size, places_in, world, members);
  MPI_Group_free(&own);
  MPI_Group_free(&world);
  for (int operation = 0; operation < kOperations; ++operation) {
    if (call_count == kMostCalls) MPI_Abort(MPI_COMM_WORLD, 3);
    struct Call* const one = &calls[call_count++];
    one->operation = operation;
    one->communicator = communicator;
    one->root = (number + operation) % size;
    one->rank = rank;
    one->size = size;
    memcpy(one->members, members, sizeof members);
    if ((is_first_late ? 0 : (number * 5 + operation) % (size + 1)) == rank) rest(kDelay);
    one->begin = now();
    call(operation, one->root, comm);
    one->end = now();
  }
}

// The entry of the call that has the same place among those of its communicator on another rank.
static double entry_of(const struct Call* all, const int* of_rank, int member,
                       const struct Call* one, int place) {
  const struct Call* theirs = all + (size_t)member * kMostCalls;
  for (int i = 0; i < of_rank[member]; ++i) {
    if (theirs[i].communicator == one->communicator && place-- == 0) return theirs[i].begin;
  }
  MPI_Abort(MPI_COMM_WORLD, 4);
  return 0;
}

static void show(const struct Call* all, const int* of_rank, int ranks) {
  double least[kOperations] = {0}, most[kOperations] = {0}, awaited[kMostRanks] = {0};
  int many[kOperations] = {0};
  for (int rank = 0; rank < ranks; ++rank) {
    const struct Call* own = all + (size_t)rank * kMostCalls;
    for (int i = 0; i < of_rank[rank]; ++i) {
      const struct Call* one = own + i;
      int place = 0;
      for (int j = 0; j < i; ++j) place += own[j].communicator == one->communicator;
      double needed = 0, longest = 0;
      int whom = -1;
      for (int other = 0; other < one->size; ++other) {
        if (other == one->rank) continue;
        double late = entry_of(all, of_rank, one->members[other], one, place) - one->begin;
        if (late > one->end - one->begin) late = one->end - one->begin;
        if (late > longest) longest = late;
        if (late > needed && needs(one->operation, one->root, one->rank, other)) {
          needed = late;
          whom = one->members[other];
        }
      }
      many[one->operation] += 1;
      least[one->operation] += needed;
      most[one->operation] += longest;
      if (whom >= 0) awaited[whom] += needed;
    }
  }
  for (int i = 0; i < kOperations; ++i) {
    printf("wait %s %d %.9f %.9f\n", kNames[i], many[i], least[i], most[i]);
  }
  for (int i = 0; i < ranks; ++i) printf("awaited %d %.9f\n", i, awaited[i]);
}

// Point to point, so that it has no part in what is shown.
static void gather_and_show(int ranks) {
  if (world_rank != 0) {
    MPI_Send(&call_count, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(calls, sizeof calls, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    return;
  }
  struct Call* const all = malloc((size_t)ranks * sizeof calls);
  int of_rank[kMostRanks];
  memcpy(all, calls, sizeof calls);
  of_rank[0] = call_count;
  for (int i = 1; i < ranks; ++i) {
    MPI_Recv(&of_rank[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(all + (size_t)i * kMostCalls, sizeof calls, MPI_BYTE, i, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  show(all, of_rank, ranks);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  is_first_late = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kMostRanks; ++i) {
    counts[i] = 8;
    places[i] = 8 * i;
  }
  MPI_Comm copy, halves;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &halves);
  const int half = 2 + world_rank % 2;
  for (int i = 0; i < 3; ++i) {
    round_of_calls(i, MPI_COMM_WORLD, 0);
    round_of_calls(i, copy, 1);
    if (ranks > 3) round_of_calls(i, halves, half);
    MPI_Comm again;  // each is another one, and has the handle of the one before
    MPI_Comm_dup(halves, &again);
    if (ranks > 3) round_of_calls(i, again, 4 + 2 * i + world_rank % 2);
    MPI_Comm_free(&again);
  }
  for (int i = 0; i < 100; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  gather_and_show(ranks);
  MPI_Finalize();
  return 0;
}
