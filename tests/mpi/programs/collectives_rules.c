/* collectives_rules RULE: what is promised of collective operations beside their results.
 *
 *   order     sums of numbers that are rounded: those of all ranks, added in rank order, from the
 *             first call on
 *   bits      such sums at a root, and of blocks: the same bits in each call, from the first on
 *   progress  a rank that waits in a collective call still sends what it has begun to send
 *   wide      calls with large counts, where the MPI has them, are carried out as well
 *   large     blocks larger than what ranks share, in place, with gaps, some of them empty
 *   giant     two ranks exchange, in place, one element of more than 2 GiB
 *   bottom    of a gather some ranks have absolute addresses, from MPI_BOTTOM on
 *   late      a root that goes on does not overwrite what late ranks have not read
 *   inter     between two groups of ranks, each gets what the other gives
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WARM = 6, MOST = 3000 };

static int rank;
static int size;

static double number(int of, int i) {
  return 1.0 / (3.0 + of * of + i);
}

static int check_sums(int count) {
  static double given[MOST];
  static double found[MOST];
  int right = 1;
  for (int i = 0; i < count; ++i) given[i] = number(rank, i);
  MPI_Allreduce(given, found, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    double sum = number(0, i);
    for (int other = 1; other < size; ++other) sum += number(other, i);
    right = right && memcmp(&sum, &found[i], sizeof sum) == 0;
  }
  return right;
}

static int order(void) {
  int right = 1;
  for (int call = 0; call < WARM; ++call) right = check_sums(1) && right;
  for (int count = 1; count <= MOST; count = count * 3 + 1) right = check_sums(count) && right;
  return right;
}

/* The bits of an operation's result in its first call, whose numbers do not differ from call to
 * call; of a root alone. */
static int has_same_bits(int operation, int count, int root, double* first) {
  static double given[64 * MOST];
  static double found[MOST];
  int blocks = operation == 0 ? 1 : size;
  for (int i = 0; i < blocks * MOST; ++i) given[i] = number(rank, i);
  if (operation == 0) {
    MPI_Reduce(given, found, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank != root) return 1;
  } else {
    for (int to = 0; to < size; ++to) {
      for (int i = 0; i < count; ++i) given[to * count + i] = number(rank, i);
    }
    MPI_Reduce_scatter_block(given, found, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  int right = 1;
  for (int i = 0; i < count; ++i) {
    if (first[i] == 0) first[i] = found[i];
    right = right && memcmp(&first[i], &found[i], sizeof first[i]) == 0;
  }
  return right;
}

/* From the first call on. */
static int bits(void) {
  static double first[2][MOST];
  int right = 1;
  for (int call = 0; call < 40; ++call) {
    const int count = call % 4 == 3 ? MOST : 1 + call % 4 * 100;
    right = has_same_bits(0, count, 1, first[0]) && right;
    right = has_same_bits(1, count, 0, first[1]) && right;
  }
  return right;
}

/* A call in which a rank sends what the last rank must have before it comes. */
static void wait_in(int operation, int sender) {
  int data[64] = {rank};
  int all[64] = {0};
  switch (operation) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Bcast(data, 1, MPI_INT, size - 1, MPI_COMM_WORLD); break;
    case 3: MPI_Allgather(data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD); break;
    default: MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, sender, MPI_COMM_WORLD); break;
  }
}

/* The receiver is in its receive before the sender comes to its call. That this ends is most of
 * what is promised. */
static int progress(void) {
  enum { BYTES = 1 << 20, TIMES = 20, OPERATIONS = 5 };
  char* const data = malloc(BYTES);
  double longest = 0;
  const int receiver = size - 1;
  for (int i = 0; i < WARM + TIMES; ++i) {
    const int sender = size > 2 ? i % 2 : 0;
    memset(data, rank == sender ? i : 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == sender) {
      usleep(1000);
      MPI_Isend(data, BYTES, MPI_BYTE, receiver, 0, MPI_COMM_WORLD, &request);
    } else if (rank == receiver) {
      MPI_Recv(data, BYTES, MPI_BYTE, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wait_in(i % OPERATIONS, sender);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double time = MPI_Wtime() - begin;
    if (i >= WARM && time > longest) longest = time;
    if (rank == receiver && (data[0] != (char)i || data[BYTES - 1] != (char)i)) return 0;
  }
  if (rank == 0) printf("longest %.3f ms\n", longest * 1e3);
  free(data);
  return 1;
}

static int late(void) {
  enum { LENGTH = 1000 };
  static int data[LENGTH];
  int right = 1;
  for (int call = 0; call < 200; ++call) {
    const int root = call / 50 % size;
    for (int i = 0; i < LENGTH; ++i) data[i] = rank == root ? call * LENGTH + i : -1;
    if (rank != root && (call + rank) % 17 == 0) usleep(1500);
    MPI_Bcast(data, LENGTH, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH; ++i) right = right && data[i] == call * LENGTH + i;
  }
  return right;
}

enum { LARGE = 1 << 20 };

/* Rank r has for rank s as many bytes as both numbers say; one way or in place. */
static int large_from(int of, int to) {
  return (of + to) % 3 == 0 ? 0 : (of + to) % 3 * LARGE + of + to;
}

static int large_call(int call, MPI_Datatype type, size_t distance, int in_place) {
  static int counts[64];
  static int places[64];
  size_t all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = large_from(rank, i);
    places[i] = (int)all;
    all += counts[i];
  }
  unsigned char* const given = malloc(all * distance + 1);
  unsigned char* const taken = malloc(all * distance + 1);
  memset(taken, 0x5a, all * distance + 1);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < counts[i]; ++j) {
      const size_t at = (places[i] + j) * distance;
      given[at] = (unsigned char)(rank * 3 + i * 5 + j % 251 + call);
      if (in_place) taken[at] = given[at];
    }
  }
  MPI_Alltoallv(in_place ? MPI_IN_PLACE : given, counts, places, type, taken, counts, places, type,
                MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < counts[i]; ++j) {
      const size_t at = (places[i] + j) * distance;
      right = right && taken[at] == (unsigned char)(i * 3 + rank * 5 + j % 251 + call);
      right = right && (distance == 1 || taken[at + 1] == 0x5a);
    }
  }
  free(given);
  free(taken);
  return right;
}

static int large(void) {
  MPI_Datatype gapped = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &gapped);
  MPI_Type_commit(&gapped);
  int right = 1;
  for (int call = 0; call < 2 * WARM; ++call) {
    const int has_gaps = call % 2;
    right = right && large_call(call, has_gaps ? gapped : MPI_BYTE, 1 + has_gaps, call / 2 % 2);
  }
  MPI_Type_free(&gapped);
  return right;
}

static int giant(void) {
  const int numbers = (1 << 28) + 3;
  long* const data = malloc(numbers * sizeof(long));
  const int counts[2] = {rank == 1, rank == 0};
  const int places[2] = {0, 0};
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(numbers, MPI_LONG, &element);
  MPI_Type_commit(&element);
  for (int i = 0; i < numbers; ++i) data[i] = 3L * i + rank;
  int right = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, places,
                            element, MPI_COMM_WORLD) == MPI_SUCCESS;
  for (int i = 0; i < numbers; ++i) right = right && data[i] == 3L * i + 1 - rank;
  MPI_Type_free(&element);
  free(data);
  return right;
}

/* Displacements are ints, so the addresses have to be small. */
static int bottom(void) {
  unsigned char* const taken =
      mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  int right = 1;
  for (int call = 0; call < 2 * WARM; ++call) {
    const int is_absolute = rank % 2 == 0;
    const unsigned char given[2] = {(unsigned char)(rank + call), (unsigned char)(rank * 2 + call)};
    int counts[64];
    int places[64];
    for (int i = 0; i < size; ++i) {
      /* The first gives nothing, from nowhere. */
      counts[i] = i == 0 ? 0 : 2;
      places[i] = (is_absolute ? (int)(intptr_t)taken : 0) + 3 * i;
      if (i == 0 && is_absolute) places[i] = 0;
    }
    memset(taken, 0x5a, 1 << 16);
    MPI_Allgatherv(given, counts[rank], MPI_BYTE, is_absolute ? MPI_BOTTOM : taken, counts, places,
                   MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
      const unsigned char* const block = taken + 3 * i;
      right = right && block[0] == (i == 0 ? 0x5a : (unsigned char)(i + call));
      right = right && block[1] == (i == 0 ? 0x5a : (unsigned char)(i * 2 + call));
      right = right && block[2] == 0x5a;
    }
  }
  munmap(taken, 1 << 16);
  return right;
}

static int wide(void) {
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  int right = 1;
  for (int call = 0; call < 2 * WARM; ++call) {
    const long given = rank + call;
    long sum = 0;
    long all[64] = {0};
    const MPI_Count counts[64] = {[0 ... 63] = 1};
    MPI_Aint places[64];
    for (int i = 0; i < 64; ++i) places[i] = size - 1 - i;
    MPI_Allreduce_c(&given, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == (long)size * (size - 1) / 2 + (long)size * call;
    MPI_Allgatherv_c(&given, 1, MPI_LONG, all, counts, places, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) right = right && all[size - 1 - i] == i + call;
    long part = 0;
    for (int i = 0; i < size; ++i) all[i] = i;
    MPI_Reduce_scatter_c(all, &part, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    right = right && part == (long)size * rank;
    long gathered[64] = {0};
    MPI_Gatherv_c(&given, 1, MPI_LONG, gathered, counts, places, MPI_LONG, 1, MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < size; ++i) right = right && gathered[size - 1 - i] == i + call;
    MPI_Scatterv_c(gathered, counts, places, MPI_LONG, &part, 1, MPI_LONG, 1, MPI_COMM_WORLD);
    right = right && part == given;
    for (int i = 0; i < size; ++i) all[size - 1 - i] = 100 * rank + i;
    MPI_Alltoallv_c(all, counts, places, MPI_LONG, gathered, counts, places, MPI_LONG,
                    MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) right = right && gathered[size - 1 - i] == 100 * i + rank;
  }
  return right;
#else
  return order();
#endif
}

/* Ranks with even numbers, and those with odd ones; the first even one is a root. */
static int inter_call(MPI_Comm between, int call) {
  const int odd = rank % 2;
  const int others = odd ? (size + 1) / 2 : size / 2;
  const int root = odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  int right = 1;
  int value = rank == 0 ? call : -1;
  int given[64];
  int taken[64];
  MPI_Barrier(between);
  MPI_Bcast(&value, 1, MPI_INT, root, between);
  right = right && value == (odd || rank == 0 ? call : -1);
  value = rank + call;
  MPI_Allgather(&value, 1, MPI_INT, taken, 1, MPI_INT, between);
  int expected = 0;
  for (int i = 0; i < others; ++i) {
    right = right && taken[i] == 2 * i + !odd + call;
    expected += taken[i];
    given[i] = 100 * rank + i;
  }
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
  MPI_Alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, between);
  for (int i = 0; i < others; ++i) right = right && taken[i] == 100 * (2 * i + !odd) + rank / 2;
  return right && sum == expected;
}

static int inter(void) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  int right = 1;
  for (int call = 0; call < 2 * WARM; ++call) {
    right = check_sums(1) && right;
    right = inter_call(between, call) && right;
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&own);
  return right;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const rule = argc > 1 ? argv[1] : "";
  int right = 0;
  if (strcmp(rule, "order") == 0) right = order();
  if (strcmp(rule, "bits") == 0) right = bits();
  if (strcmp(rule, "progress") == 0) right = progress();
  if (strcmp(rule, "large") == 0) right = large();
  if (strcmp(rule, "giant") == 0) right = giant();
  if (strcmp(rule, "bottom") == 0) right = bottom();
  if (strcmp(rule, "wide") == 0) right = wide();
  if (strcmp(rule, "late") == 0) right = late();
  if (strcmp(rule, "inter") == 0) right = inter();
  printf("rank %d: %s\n", rank, right ? "right" : "wrong");
  MPI_Finalize();
  return !right;
}
