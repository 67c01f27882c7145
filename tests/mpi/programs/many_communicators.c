/* Broadcasts and reductions over 200 communicators, which stay. Rank 0 prints how much shared
 * memory its process has mapped: "shared N kB". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COMMUNICATORS = 200, CALLS = 20 };

static long shared_kilobytes(void) {
  char line[512];
  long bytes = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || strstr(line, "/dev/shm") == NULL) continue;
    bytes += (long)(end - begin);
  }
  if (maps != NULL) fclose(maps);
  return bytes / 1024;
}

int main(int argc, char** argv) {
  static MPI_Comm communicators[COMMUNICATORS];
  char text[64] = "";
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < COMMUNICATORS; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
    for (int k = 0; k < CALLS; k++) {
      int one = 1, sum = 0, size;
      text[0] = (char)(rank == 0 ? k : -1);
      MPI_Bcast(text, sizeof text, MPI_CHAR, 0, communicators[i]);
      MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, communicators[i]);
      MPI_Comm_size(communicators[i], &size);
      wrong += text[0] != k || (rank == 0 && sum != size);
    }
  }
  if (rank == 0) printf("shared %ld kB, wrong %d\n", shared_kilobytes(), wrong);
  MPI_Finalize();
  return 0;
}
