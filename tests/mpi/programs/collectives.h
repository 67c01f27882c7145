/* Random collective calls, and what must come of them by plain loops. */
#ifndef HEADRACE_TEST_COLLECTIVES_H
#define HEADRACE_TEST_COLLECTIVES_H

#include <mpi.h>
#include <stddef.h>

/* A call as all ranks draw it. */
struct drawn {
  unsigned call; /* its number */
  int count;     /* elements of a block */
  int root;
  int in_place;
  int reduction; /* an operation, an index */
  int type;      /* what it computes with, an index */
};

/* Numbers that are the same on all ranks, if all draw as often. Each thread has its own. */
unsigned draw(unsigned below);
void draw_from(unsigned seed);

/* Makes a call that is drawn, of `largest` elements at most. Returns 0 where a result is wrong. */
int run_drawn(unsigned call, unsigned largest, MPI_Comm comm);

/* Elements of one int each: plain, with gaps and a negative lower bound, or of bytes. Each rank has
 * its own, whose signature is that of the others. */
void make_types(int with_gaps);
void free_types(void);

/* Each returns 0 where a result is wrong, and prints what. */
int move_data(int operation, const struct drawn* own, MPI_Comm comm);
int reduce_data(int operation, const struct drawn* own, MPI_Comm comm);
int exchange_data(int operation, const struct drawn* own, MPI_Comm comm);
#define MOVING_OPERATIONS 4
#define REDUCING_OPERATIONS 4
#define EXCHANGING_OPERATIONS 6
#define REDUCTIONS 6
#define REDUCED_TYPES 6

#endif
