/* Works in functions that are called so often as it prints: "calls NAME NUMBER". Its argument:
   steps. kernel has nearly all of the time; outer calls it, and MPI; many takes arguments on the
   stack. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define OUT __attribute__((noinline, noclone))
#define SIZE 20000

static double field[SIZE];
static long kernels, outers, manies;

OUT double kernel(int n, double shift) {
  ++kernels;
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 1; i + 1 < n; ++i) {
      field[i] = (field[i - 1] + field[i] + field[i + 1] + shift) / 3;
      sum += field[i];
    }
  }
  return sum;
}

OUT long many(long a, long b, long c, long d, long e, long f, long g, long h) {
  ++manies;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + kernels;
}

OUT double outer(int step) {
  ++outers;
  double sum = kernel(SIZE, sqrt(step)) + kernel(SIZE / 2, 1), all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  double sum = 0;
  long wrong = 0;
  for (int step = 0; step < steps; ++step) {
    sum += outer(step);
    wrong += many(1, 2, 3, 4, 5, 6, 7, 8) - kernels != 204;
  }
  const long own[3] = {kernels, outers, manies};
  long all[3];
  MPI_Reduce(own, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("calls kernel %ld\ncalls outer %ld\ncalls many %ld\n", all[0], all[1], all[2]);
    printf("sum %a\nwrong %ld\n", sum, wrong);
  }
  MPI_Finalize();
  return 0;
}
