// How fast data of a device's memory goes to a file and back: given to MPI as it is, and by hand,
// which copies all of it to host memory first. Alternately, one line each.
// Usage: device_speed FILE DRIVER MEBIBYTES TIMES, DRIVER of device_memory.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"

static int rank;
static MPI_File file;
static unsigned char *host, *data;
static int bytes;

static void write_as_it_is(void) {
  MPI_File_write_at_all(file, (MPI_Offset)bytes * rank, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void write_by_hand(void) {
  device_get(KIND_DEVICE, host, data, (size_t)bytes);
  MPI_File_write_at_all(file, (MPI_Offset)bytes * rank, host, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void read_as_it_is(void) {
  MPI_File_read_at_all(file, (MPI_Offset)bytes * rank, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void read_by_hand(void) {
  MPI_File_read_at_all(file, (MPI_Offset)bytes * rank, host, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  device_put(KIND_DEVICE, data, host, (size_t)bytes);
}

static double seconds_of(void (*call)(void)) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  call();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(argc > 4, "run without FILE, DRIVER, MEBIBYTES and TIMES");
  check(device_open(argv[2]), "open the driver");
  bytes = atoi(argv[3]) << 20;
  host = malloc((size_t)bytes);
  data = device_allocate(KIND_DEVICE, (size_t)bytes);
  memset(host, 7, (size_t)bytes);
  device_put(KIND_DEVICE, data, host, (size_t)bytes);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  write_by_hand();
  write_as_it_is();
  for (int i = 0; i < atoi(argv[4]); i++) {
    const double write_hand = seconds_of(write_by_hand), write_given = seconds_of(write_as_it_is);
    const double read_hand = seconds_of(read_by_hand), read_given = seconds_of(read_as_it_is);
    if (rank == 0) {
      printf("seconds: %.6f %.6f %.6f %.6f\n", write_given, write_hand, read_given, read_hand);
    }
  }
  MPI_File_close(&file);
  device_free(KIND_DEVICE, data);
  free(host);
  MPI_Finalize();
  return 0;
}
