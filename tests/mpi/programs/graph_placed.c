/* Makes a ring of ranks whose numbers are scrambled, by MPI_Dist_graph_create or _adjacent, and
 * prints each vertex's neighbours and weights, and how many of them are on other nodes:
 * graph_placed adjacent|general|unweighted reorder */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "end_at_once.h"

enum { name_length = 64, most_neighbours = 8 };

static int scrambled(int place, int size) {
  return (place * 3 + 1) % size; /* sizes without the factor 3 */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 3 || size % 3 == 0) MPI_Abort(MPI_COMM_WORLD, 2);
  const int reorder = atoi(argv[2]);
  int place = 0;
  while (scrambled(place, size) != rank) ++place;
  int after = scrambled((place + 1) % size, size);
  int before = scrambled((place + size - 1) % size, size);
  int in_weight = 100 + before, out_weight = 100 + rank, one = 1;
  MPI_Comm graph = MPI_COMM_NULL;
  if (strcmp(argv[1], "adjacent") == 0) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &in_weight, 1, &after, &out_weight,
                                   MPI_INFO_NULL, reorder, &graph);
  } else if (strcmp(argv[1], "unweighted") == 0) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &after,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &graph);
  } else { /* each tells another's edge */
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &before, &one, &rank, &in_weight, MPI_INFO_NULL,
                          reorder, &graph);
  }
  char host[name_length] = "";
  gethostname(host, sizeof host - 1);
  char* hosts = malloc((size_t)size * name_length);
  MPI_Allgather(host, name_length, MPI_CHAR, hosts, name_length, MPI_CHAR, graph);
  int vertex, in, out, weighted;
  MPI_Comm_rank(graph, &vertex);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  int from[most_neighbours], to[most_neighbours];
  int from_weight[most_neighbours] = {0}, to_weight[most_neighbours] = {0};
  MPI_Dist_graph_neighbors(graph, in, from, weighted ? from_weight : MPI_UNWEIGHTED, out, to,
                           weighted ? to_weight : MPI_UNWEIGHTED);
  int received = -1;
  MPI_Neighbor_alltoall(&vertex, 1, MPI_INT, &received, 1, MPI_INT, graph);
  int others = strcmp(hosts + to[0] * name_length, host) != 0;
  printf("vertex %d in %d %d %d out %d %d %d weighted %d received %d others %d\n", vertex, in,
         from[0], from_weight[0], out, to[0], to_weight[0], weighted, received, others);
  free(hosts);
  end_at_once();
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
