// Parent and spawned children open one file over their merged communicator, and try to over the
// intercommunicator.  spawn DIRECTORY
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int report(int good, const char* what) {
  if (!good) {
    printf("wrong: %s\n", what);
    fflush(stdout);
  }
  return good ? 0 : 1;
}

static int write_together(MPI_Comm merged, const char* path) {
  int rank, size, wrong = 0;
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  MPI_File file;
  int code = MPI_File_open(merged, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) return report(0, "open over the merged communicator");
  wrong += report(!carried(file), "a file shared with children is left to the library");
  int values[10], back[10], next = (rank + 1) % size;
  for (int i = 0; i < 10; i++) values[i] = 100 * rank + i;
  code = MPI_File_write_at_all(file, 40 * rank, values, 10, MPI_INT, MPI_STATUS_IGNORE);
  wrong += report(code == MPI_SUCCESS, "write_at_all");
  MPI_File_sync(file);
  MPI_Barrier(merged);
  MPI_File_sync(file);
  code = MPI_File_read_at_all(file, 40 * next, back, 10, MPI_INT, MPI_STATUS_IGNORE);
  wrong += report(code == MPI_SUCCESS && back[9] == 100 * next + 9, "read_at_all");
  MPI_File_close(&file);
  return wrong;
}

/* Ranks may get other numbers (HEADRACE_CART_REORDER), but not if some do not know of that. */
static int number_anew(MPI_Comm merged) {
  int size, rank, sum = 0;
  const int periods[1] = {1};
  MPI_Comm grid, graph;
  MPI_Comm_size(merged, &size);
  MPI_Comm_rank(merged, &rank);
  const int next = (rank + 1) % size, one = 1;
  MPI_Cart_create(merged, 1, &size, periods, 1, &grid);
  MPI_Dist_graph_create_adjacent(merged, 1, &next, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, &graph);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, grid);
  const int wrong = report(sum == size, "a sum over the grid");
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, graph);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&graph);
  return wrong + report(sum == size, "a sum over the graph");
}

int main(int argc, char** argv) {
  char path[1200];
  MPI_Init(&argc, &argv);
  MPI_Comm parent, between, merged;
  MPI_Comm_get_parent(&parent);
  int child = parent != MPI_COMM_NULL, wrong = 0, all_wrong = 0, rank;
  if (child) {
    between = parent;
  } else {
    MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(between, child, &merged);
  snprintf(path, sizeof path, "%s/spawn.data", argv[1]);
  wrong += write_together(merged, path);
  wrong += number_anew(merged);
  if (!child) {  // the children's own world is theirs to share with nobody
    MPI_File file;
    char own[1300];
    snprintf(own, sizeof own, "%s.own", path);
    MPI_File_open(MPI_COMM_WORLD, own, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    const char* expect = getenv("MPI_TEST_EXPECT");
    wrong += report(carried(file) == (expect && strcmp(expect, "engine") == 0),
                    "the parents' own file is carried");
    MPI_File_close(&file);
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_rank(merged, &rank);
  if (rank == 0 && !child) printf("%s\n", all_wrong ? "failed" : "ok");
  fflush(stdout);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}
