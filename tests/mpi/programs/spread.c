/* spread FOLDER OPERATION:BYTES:CALLS...: so many calls of allgather, allgatherv, reduce_scatter or
 * reduce_scatter_block, with blocks of as many bytes; `none` makes no call. Around those of each
 * argument N (0, 1, ...) rank 0 makes FOLDER/N.begin and FOLDER/N.end, and waits for ...begin.seen
 * and ...end.seen, while all others wait for it. Calls before that are not between them. `rank R
 * right on NODE` from each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEFORE = 8 };

static int rank, size;
static int *counts, *places, *given, *got;

static int value(int from, int place, int call) {
  return from * 1009 + place % 4093 + call * 7;
}

static int call_right(const char* operation, int count, int call) {
  const int reduces = strncmp(operation, "reduce", 6) == 0;
  const int is_v = strcmp(operation, "allgatherv") == 0;
  for (int i = 0; i < size * count; ++i) {
    given[i] = value(rank, i, call);
    got[i] = -1;
  }
  for (int i = 0; i < size; ++i) {
    counts[i] = count;
    places[i] = i * count;
  }
  if (strcmp(operation, "none") == 0) return 1;
  if (strcmp(operation, "allgather") == 0) {
    MPI_Allgather(given, count, MPI_INT, got, count, MPI_INT, MPI_COMM_WORLD);
  } else if (is_v) {
    MPI_Allgatherv(given, count, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  } else if (strcmp(operation, "reduce_scatter") == 0) {
    MPI_Reduce_scatter(given, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(operation, "reduce_scatter_block") == 0) {
    MPI_Reduce_scatter_block(given, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    return 0;
  }
  for (int i = 0; i < (reduces ? count : size * count); ++i) {
    int expected = 0;
    if (reduces) {
      for (int from = 0; from < size; ++from) expected += value(from, rank * count + i, call);
    } else {
      expected = value(i / count, i % count, call);
    }
    if (got[i] != expected) return 0;
  }
  return 1;
}

/* Others wait in the barrier, and send nothing. */
static void tell(const char* folder, int number, const char* what) {
  char name[4096];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    snprintf(name, sizeof name, "%s/%d.%s", folder, number, what);
    FILE* const made = fopen(name, "w");
    if (!made) MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(made);
    strcat(name, ".seen");
    while (access(name, F_OK) != 0) usleep(2000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = argc > 2;
  for (int i = 2; i < argc; ++i) {
    char operation[64];
    int bytes = 0;
    int calls = 0;
    if (sscanf(argv[i], "%63[^:]:%d:%d", operation, &bytes, &calls) != 3)
      MPI_Abort(MPI_COMM_WORLD, 2);
    const int count = bytes / (int)sizeof(int);
    counts = malloc(size * sizeof(int));
    places = malloc(size * sizeof(int));
    given = malloc(size * count * sizeof(int) + 1);
    got = malloc(size * count * sizeof(int) + 1);
    for (int call = 0; call < BEFORE; ++call) right = call_right(operation, count, call) && right;
    tell(argv[1], i - 2, "begin");
    for (int call = 0; call < calls; ++call) right = call_right(operation, count, call) && right;
    tell(argv[1], i - 2, "end");
    free(counts);
    free(places);
    free(given);
    free(got);
  }
  char node[256] = "";
  gethostname(node, sizeof node - 1);
  if (right) printf("rank %d right on %s\n", rank, node);
  MPI_Finalize();
  return !right;
}
