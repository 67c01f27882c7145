/* Prints which rank is on which node. With dimensions as arguments, also the neighbours that a grid
 * made by MPI_Cart_create has on other nodes: placed [reorder periodic DIMENSION...] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "end_at_once.h"

enum { name_length = 64, most_dimensions = 4 };

static void tell(MPI_Comm grid, int dimensions, const char* hosts) {
  int world_rank, rank, coordinates[most_dimensions];
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, dimensions, coordinates);
  char line[128]; /* by one write, so that lines of several ranks do not mix */
  int end = snprintf(line, sizeof line, "cell %d is rank %d at", rank, world_rank);
  for (int axis = 0; axis < dimensions; ++axis) {
    end += snprintf(line + end, sizeof line - (size_t)end, " %d", coordinates[axis]);
  }
  int others = 0;
  for (int axis = 0; axis < dimensions; ++axis) {
    int neighbours[2];
    MPI_Cart_shift(grid, axis, 1, &neighbours[0], &neighbours[1]);
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;
      others += strcmp(hosts + neighbours[side] * name_length, hosts + rank * name_length) != 0;
    }
  }
  printf("%s others %d\n", line, others);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char host[name_length] = "";
  gethostname(host, sizeof host - 1);
  if (argc < 4) {
    printf("rank %d on %s\n", rank, host);
    MPI_Finalize();
    return 0;
  }
  const int dimensions = argc - 3;
  int extents[most_dimensions], periods[most_dimensions];
  for (int axis = 0; axis < dimensions; ++axis) {
    extents[axis] = atoi(argv[3 + axis]);
    periods[axis] = atoi(argv[2]);
  }
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, extents, periods, atoi(argv[1]), &grid);
  if (grid != MPI_COMM_NULL) {
    int cells;
    MPI_Comm_size(grid, &cells);
    char* hosts = malloc((size_t)cells * name_length);
    MPI_Allgather(host, name_length, MPI_CHAR, hosts, name_length, MPI_CHAR, grid);
    tell(grid, dimensions, hosts);
    free(hosts);
  } else {
    printf("no cell is rank %d\n", rank);
  }
  end_at_once();
  if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
