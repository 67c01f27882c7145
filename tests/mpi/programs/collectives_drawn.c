/* Which collective call is made: drawn, by all ranks alike. Each thread has numbers of its own. */
#include <unistd.h>

#include "collectives.h"

static _Thread_local unsigned state;

void draw_from(unsigned seed) {
  state = seed * 2654435761u + 1;
}

unsigned draw(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static int largest_count(unsigned largest) {
  switch (draw(8)) {
    case 0: return 0;
    case 1: return (int)largest;
    case 2: return (int)(largest / 2);
    default: return (int)(largest < 64 ? largest : 64);
  }
}

/* Some ranks come late, some messages are on their way meanwhile. */
static void disturb(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const unsigned which = draw(40);
  if (which < 3 && (unsigned)rank % 3 == which) usleep(2000);
}

int run_drawn(unsigned call, unsigned largest, MPI_Comm comm) {
  struct drawn own = {.call = call};
  const int limit = largest_count(largest);
  own.count = limit == 0 ? 0 : (int)draw((unsigned)limit) + 1;
  own.root = (int)draw(1000);
  own.in_place = draw(3) == 0;
  own.reduction = (int)draw(REDUCTIONS);
  own.type = (int)draw(REDUCED_TYPES);
  const int reducing = MOVING_OPERATIONS;
  const int exchanging = reducing + REDUCING_OPERATIONS;
  const int operation = (int)draw(exchanging + EXCHANGING_OPERATIONS + 1);
  disturb(comm);
  if (operation < reducing) return move_data(operation, &own, comm);
  if (operation < exchanging) return reduce_data(operation - reducing, &own, comm);
  if (operation < exchanging + EXCHANGING_OPERATIONS) {
    return exchange_data(operation - exchanging, &own, comm);
  }
  MPI_Barrier(comm);
  return 1;
}
