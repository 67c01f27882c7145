/* Two builds of it are compared: with MORE it has more code in front and calls MPI_Barrier, too. */
#include <mpi.h>

static volatile int kept;

#ifdef MORE
__attribute__((noinline)) static void added(void) {
  for (int i = 0; i < 3; ++i) kept += i;
  MPI_Barrier(MPI_COMM_WORLD);
  ++kept;
}
#endif

__attribute__((noinline)) static void reduce(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  kept += sum;
}

__attribute__((noinline)) static void step(void) {
#ifdef MORE
  added();
#endif
  reduce();
  ++kept;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 5; ++i) step();
  MPI_Finalize();
  return 0;
}
