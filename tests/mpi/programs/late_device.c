/* late_device: after some collective calls a device's driver comes (CUDA's stand-in), and one rank
 * has its data in the device's memory. Each operation then ends, and does what it should. The
 * library is to be one that knows devices: their memory can be touched here. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_memory.h"

enum { kCount = 700 };

static int rank, size;
static int* own; /* the device's memory on one rank */

static int first_calls(void) {
  int right = 1;
  for (int call = 0; call < 6; ++call) {
    int sum = 0;
    int given = rank;
    MPI_Bcast(&call, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&given, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    right = right && (rank != 0 || sum == size * (size - 1) / 2);
  }
  return right;
}

static int broadcast(void) {
  for (int i = 0; i < kCount; ++i) own[i] = rank == 0 ? i : -1;
  MPI_Bcast(own, kCount, MPI_INT, 0, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < kCount; ++i) right = right && own[i] == i;
  return right;
}

static int reduce(void) {
  int sums[kCount];
  for (int i = 0; i < kCount; ++i) own[i] = rank + i;
  MPI_Reduce(own, sums, kCount, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; rank == 0 && i < kCount; ++i) {
    right = right && sums[i] == size * (size - 1) / 2 + size * i;
  }
  return right;
}

static int reduce_to_all(void) {
  for (int i = 0; i < kCount; ++i) own[i] = rank + i;
  MPI_Allreduce(MPI_IN_PLACE, own, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < kCount; ++i) right = right && own[i] == size * (size - 1) / 2 + size * i;
  return right;
}

static int gather(void) {
  int given[2] = {rank, rank + 100};
  int* const from = rank == size - 1 ? own : given;
  memcpy(from, given, sizeof given);
  int found[2 * 64];
  MPI_Allgather(from, 2, MPI_INT, found, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Gather(from, 2, MPI_INT, found, 2, MPI_INT, 0, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < size; ++i) right = right && found[2 * i] == i && found[2 * i + 1] == i + 100;
  return right;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int host[kCount];
  own = host;
  int right = first_calls();
  if (!device_open("cuda")) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == size - 1) {
    own = device_allocate(KIND_DEVICE, sizeof host);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* const begin = (char*)own - (size_t)own % page;
    if (mprotect(begin, (size_t)((char*)(own + kCount) - begin), PROT_READ | PROT_WRITE) != 0) {
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
  }
  right = right && broadcast() && reduce() && reduce_to_all() && gather();
  if (right) printf("right\n");
  MPI_Finalize();
  return !right;
}
