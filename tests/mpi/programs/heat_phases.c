/* Writes and reads in phases, with pauses between them, and tells what it moved when.
 *
 *     heat_phases DIRECTORY [kill]
 *
 * DIRECTORY/tally.RANK gets a line for each phase: who was asked (mpi or own), read or written,
 * when it began and ended in ns since 1970, bytes. With "kill" rank 0 kills itself after the last.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBytes = 100000, kPause = 200 }; /* milliseconds */

static int rank;
static FILE* tally;
static char data[4 * kBytes];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void tell(const char* layer, const char* direction, int64_t begin, long bytes) {
  fprintf(tally, "%s %s %lld %lld %ld\n", layer, direction, (long long)begin, (long long)now(),
          bytes);
  const struct timespec pause = {0, kPause * 1000000L};
  nanosleep(&pause, NULL);
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ranks that are not the first write twice as much, so that rows differ. */
static int own_bytes(void) {
  return rank == 0 ? kBytes : 2 * kBytes;
}

static void by_mpi(const char* directory) {
  char name[1024];
  snprintf(name, sizeof name, "%s/shared", directory);
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "open");
  const int bytes = own_bytes();
  const MPI_Offset at = (MPI_Offset)rank * 4 * kBytes;
  int64_t begin = now();
  for (int i = 0; i < 10; ++i) {
    check(MPI_File_write_at(file, at + i * bytes / 10, data, bytes / 10, MPI_BYTE,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "write_at");
  }
  tell("mpi", "written", begin, bytes);
  begin = now();
  check(MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "write_at_all");
  tell("mpi", "written", begin, bytes);
  begin = now();
  MPI_Request request;
  check(MPI_File_iwrite_at(file, at, data, 77, MPI_BYTE, &request) == MPI_SUCCESS, "iwrite_at");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  tell("mpi", "written", begin, 77);
  begin = now();
  check(MPI_File_read_at_all(file, at, data, bytes / 2, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "read_at_all");
  tell("mpi", "read", begin, bytes / 2);
  MPI_File_close(&file);
}

static void by_own_calls(const char* directory) {
  char name[1024];
  snprintf(name, sizeof name, "%s/own.%d", directory, rank);
  const int bytes = own_bytes();
  int64_t begin = now();
  const int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
  check(file >= 0 && write(file, data, (size_t)bytes) == bytes, "write");
  tell("own", "written", begin, bytes);
  begin = now();
  check(pread(file, data, 4096, 0) == 4096 && pread(file, data, 50, 4096) == 50, "pread");
  close(file);
  tell("own", "read", begin, 4146);
  snprintf(name, sizeof name, "%s/stream.%d", directory, rank);
  begin = now();
  FILE* const stream = fopen(name, "w");
  check(stream != NULL, "fopen");
  long written = 0;
  for (int i = 0; i < 1000; ++i) written += fprintf(stream, "line %d\n", i);
  written += (long)fwrite(data, 1, 5000, stream);
  fclose(stream);
  tell("own", "written", begin, written);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const directory = argv[1];
  char name[1024];
  snprintf(name, sizeof name, "%s/tally.%d", directory, rank);
  tally = fopen(name, "w");
  setvbuf(tally, NULL, _IOLBF, 0);
  by_mpi(directory);
  by_own_calls(directory);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2 && rank == 0) raise(SIGKILL);
  if (argc > 2) pause();
  MPI_Finalize();
  return 0;
}
