/* collectives SEED ROUNDS LARGEST [dense]: random collective calls on several communicators, of
 * LARGEST elements at most, against plain loops; `dense`: without gaps between elements. */
#include "collectives.h"

#include <stdio.h>
#include <stdlib.h>

#define COMMUNICATORS 6

/* All ranks, the same twice, in reverse, two halves, one that is made anew now and then, and ranks
 * in no order. */
static void make_communicators(MPI_Comm* made) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  made[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &made[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &made[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made[3]);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[4]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank * 5 % 7, &made[5]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
  const unsigned largest = argc > 3 ? (unsigned)atoi(argv[3]) : 5000;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm communicators[COMMUNICATORS];
  make_communicators(communicators);
  make_types(argc <= 4);
  draw_from(seed);
  unsigned wrong = 0;
  for (unsigned call = 0; call < rounds; ++call) {
    const unsigned which = draw(COMMUNICATORS);
    if (which == 4 && draw(20) == 0) {
      MPI_Comm_free(&communicators[4]);
      MPI_Comm_dup(MPI_COMM_WORLD, &communicators[4]);
    }
    wrong += !run_drawn(call, largest, communicators[which]);
  }
  for (int i = 1; i < COMMUNICATORS; ++i) MPI_Comm_free(&communicators[i]);
  free_types();
  printf("rank %d: %u of %u calls wrong\n", rank, wrong, rounds);
  MPI_Finalize();
  return wrong != 0;
}
