// Preloaded under Debian's MPICH, whose ROMIO sends by calls that can be caught: counts what the
// ranks of a node send to those of others in collective calls of files. Neighbours in rank order,
// RANKS_PER_NODE of them, share a node.
//
// Prints "plain MESSAGES" at the end, of this rank. Whatever else MPICH sends is not counted; an
// all-to-all exchange counts as the messages of Bruck's algorithm, which MPICH takes for small
// ones.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long messages;

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static void note(MPI_Comm comm, int destination) {
  const int on_node = atoi(getenv("RANKS_PER_NODE"));
  if (rank_in(comm) / on_node != destination / on_node) ++messages;
}

#define SEND(name)                                                                        \
  int name(const void* data, int count, MPI_Datatype type, int destination, int tag,      \
           MPI_Comm comm, MPI_Request* request) {                                         \
    static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*); \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                                  \
    note(comm, destination);                                                              \
    return next(data, count, type, destination, tag, comm, request);                      \
  }
SEND(PMPI_Isend)
SEND(PMPI_Issend)

int PMPI_Alltoall(const void* given, int given_count, MPI_Datatype given_type, void* taken,
                  int taken_count, MPI_Datatype taken_type, MPI_Comm comm) {
  static int (*next)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Alltoall");
  int size = 0;
  PMPI_Comm_size(comm, &size);
  for (int step = 1; step < size; step *= 2) note(comm, (rank_in(comm) + step) % size);
  return next(given, given_count, given_type, taken, taken_count, taken_type, comm);
}

__attribute__((destructor)) static void tell(void) {
  if (messages > 0) printf("plain %ld\n", messages);
}
