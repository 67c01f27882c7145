/* Broadcasts that a late rank has to keep: how much memory a rank needs for them, in KiB. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { bytes = 2000, warm = 200, calls = 15000 };

/* The most resident memory that this process has had. */
static long most_resident(void) {
  char line[256];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    sscanf(line, "VmHWM: %ld", &kib);
  }
  if (status != NULL) fclose(status);
  return kib;
}

/* The library takes what has come, and has to keep it. */
static void progress_a_while(void) {
  const double end = MPI_Wtime() + 1.5;
  while (MPI_Wtime() < end) {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    usleep(10);
  }
}

int main(int argc, char** argv) {
  static char block[bytes];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < warm; ++i) MPI_Bcast(block, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = most_resident();
  if (rank != 0) progress_a_while();
  for (int i = 0; i < calls; ++i) MPI_Bcast(block, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  const long grown = most_resident() - before;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) printf("late rank grew %ld KiB\n", grown);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
