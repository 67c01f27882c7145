/* locked_file PATH [alone]: opens a file to read and write, to write alone, and then each rank by
 * itself. Rank 0 prints how many locks of open files it has each time, and once it is closed. Each
 * rank writes between, and with `alone` rank 0 syncs once more by itself, as IMB-IO does. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int locks_of(const char* path) {
  struct stat status;
  char line[300], inode[40];
  int count = 0;
  stat(path, &status);
  snprintf(inode, sizeof inode, ":%lu ", (unsigned long)status.st_ino);
  FILE* const locks = fopen("/proc/locks", "r");
  while (locks != NULL && fgets(line, sizeof line, locks)) {
    count += strstr(line, "OFDLCK") != NULL && strstr(line, inode) != NULL;
  }
  if (locks != NULL) fclose(locks);
  return count;
}

int main(int argc, char** argv) {
  const int modes[] = {MPI_MODE_RDWR, MPI_MODE_WRONLY, MPI_MODE_RDWR};
  int rank, failed = argc < 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    MPI_File file;
    failed |= MPI_File_open(i < 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, argv[1],
                            modes[i] | MPI_MODE_CREATE, MPI_INFO_NULL, &file) != MPI_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("open %d\n", locks_of(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    failed |= MPI_File_write_at_all(file, 100 * rank, argv[1], 1, MPI_BYTE, MPI_STATUS_IGNORE);
    failed |= MPI_File_sync(file) != MPI_SUCCESS;
    if (rank == 0 && argc > 2) failed |= MPI_File_sync(file) != MPI_SUCCESS;
    failed |= MPI_File_preallocate(file, 5000) != MPI_SUCCESS;
    failed |= MPI_File_close(&file) != MPI_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("closed %d\n", locks_of(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
