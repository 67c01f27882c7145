/* Prints how large the address space of rank 0 is once MPI has started, and what some variables are
 * then: memory_shown VARIABLE... */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char line[256];
  long size = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmSize: %ld kB", &size);
  if (file) fclose(file);
  if (rank == 0) {
    printf("address space %ld kB\n", size);
    for (int word = 1; word < argc; ++word) {
      const char* value = getenv(argv[word]);
      printf("%s is %s\n", argv[word], value ? value : "not set");
    }
  }
  MPI_Finalize();
  return 0;
}
