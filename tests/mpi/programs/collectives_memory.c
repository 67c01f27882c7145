/* collectives_memory CASE: ranks that lack memory, one at a time, in collective calls, with
 * store_fault.c preloaded. A call gives the right result, or MPI_ERR_NO_MEM to the rank that lacks
 * memory and may call again; no rank waits for another for ever.
 *
 *   first  at each of the layer's allocations in turn that a communicator's first calls make
 *   root   of a broadcast, for its copy of data with gaps
 *   parts  a rank that is not the root of a broadcast in several parts, for the same
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_fault.h"

enum { CALLS = 4, MOST = 1000, TURNS = 3, FEW = 2000, MANY = 3 << 20 };

static int rank, ranks;
static long wrong, lacked;

/* At the allocation with this number. */
static void lack(int first) {
  static int counter;
  const StoreFault fault = {
      .call = STORE_MEMORY, .first = first, .times = 1, .error = 12, .truncate = -1, .at = -1};
  StoreFaultArm* arm = (StoreFaultArm*)dlsym(RTLD_DEFAULT, "store_fault_arm");
  counter = 0;
  arm("/", &fault, &counter);
}
static int have_plenty(void) {
  return ((StoreFaultDisarm*)dlsym(RTLD_DEFAULT, "store_fault_disarm"))();
}

static void expect(int is_so, const char* what, int number) {
  if (!is_so && wrong++ < 5) fprintf(stderr, "rank %d, turn %d: %s\n", rank, number, what);
}

static int is_lack(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPI_ERR_NO_MEM;
}

static void sum_up(MPI_Comm comm, int number) {
  int sum = 0;
  int code = MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (is_lack(code)) {
    ++lacked;
    code = MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  }
  expect(code == MPI_SUCCESS && sum == ranks * number, "a sum is wrong", number);
}

/* Whether this rank has lacked memory. */
static int first(MPI_Comm comm, int number, int poor) {
  if (rank == poor) lack(number);
  for (int call = 0; call < CALLS; ++call) sum_up(comm, number);
  return rank == poor ? have_plenty() : 0;
}

/* The poor rank alone has data with gaps, more in each turn: memory for copies is kept. Whoever is
 * not the root learns too late that it lacks memory. */
static int broadcast(MPI_Comm comm, int number, int poor, int root, int numbers) {
  const int is_poor = rank == poor, step = is_poor ? 2 : 1, count = (number + 1) * numbers;
  int* const data = malloc(sizeof(int) * count * step);
  MPI_Datatype gapped;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  for (int call = 0; call < CALLS; ++call) sum_up(comm, number);
  for (int i = 0; i < count; ++i) data[i * step] = rank == root ? i + number : -1;
  if (is_poor) lack(0);
  const int code = MPI_Bcast(data, count, is_poor ? gapped : MPI_INT, root, comm);
  const int has_lacked = is_poor ? have_plenty() : 0, fails = has_lacked && rank != root;
  lacked += fails;
  expect(fails ? is_lack(code) : code == MPI_SUCCESS, "the code is wrong", number);
  for (int i = 0; !fails && i < count; ++i) {
    expect(data[i * step] == i + number, "a number is wrong", number);
  }
  for (int call = 0; call < CALLS; ++call) sum_up(comm, number);
  MPI_Type_free(&gapped);
  free(data);
  return has_lacked;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_first = argc > 1 && strcmp(argv[1], "first") == 0;
  const int in_parts = argc > 1 && strcmp(argv[1], "parts") == 0;
  int met[64] = {0};
  for (int poor = 0; poor < ranks; ++poor) {
    int is_over = 0;
    for (int number = 0; !is_over && number < (is_first ? MOST : TURNS); ++number) {
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      const int root = (poor + in_parts) % ranks, numbers = in_parts ? MANY : FEW;
      int here =
          is_first ? first(comm, number, poor) : broadcast(comm, number, poor, root, numbers);
      MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      met[poor] += here;
      is_over = is_first && here == 0;
      MPI_Comm_free(&comm);
    }
  }
  long all[2] = {wrong, lacked};
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i) printf("rank %d lacked memory: %d\n", i, met[i]);
  if (rank == 0) printf("wrong %ld, failed %ld\n", all[0], all[1]);
  MPI_Finalize();
  return 0;
}
