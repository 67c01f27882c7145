/* Sums whose last bits tell in which order the ranks were added, and so by which algorithm.
 *
 *     sum_order
 *
 * Rank 0 prints "sums" and a number that all bits of the results go into.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SUMS = 24, ROUNDS = 10 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double mine[SUMS], sums[SUMS];
  for (int round = 0; round < ROUNDS; ++round) {
    const double scale = rank % 2 == 0 ? 1e8 : -1;
    for (int i = 0; i < SUMS; ++i) mine[i] = scale / (3 + 7 * rank + 11 * i);
    MPI_Allreduce(mine, sums, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  uint64_t number = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < sizeof sums; ++i) {
    number = (number ^ ((unsigned char*)sums)[i]) * 1099511628211u;
  }
  if (rank == 0) printf("sums %016llx\n", (unsigned long long)number);
  MPI_Finalize();
  return 0;
}
