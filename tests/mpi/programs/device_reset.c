// A program that resets its device between two calls: what it makes afterwards may lie where the
// layer's memory and streams lay before, and is the program's.
// Usage: device_reset DIRECTORY DRIVER reset | keep: whether pinned memory goes, too.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"

enum { largest = 5 << 20, pinned = 2 << 20, pieces = 8, streams = 8, own = 0xA5 };

static int rank, size, wrong, cases;

static void fail(int writes, size_t bytes, const char* what) {
  wrong++;
  fprintf(stderr, "rank %d, %s of %zu bytes: %s\n", rank, writes ? "write" : "read", bytes, what);
}

static unsigned char value(size_t i, int round) {
  return (unsigned char)((i * 7 + i / 251 * 13 + (size_t)(rank * 101 + round * 3)) | 1);
}

static void transfer(int writes, MPI_File file, void* data, size_t bytes) {
  MPI_Status status;
  const MPI_Offset place = (MPI_Offset)largest * rank;
  const int code = writes ? MPI_File_write_at(file, place, data, (int)bytes, MPI_BYTE, &status)
                          : MPI_File_read_at(file, place, data, (int)bytes, MPI_BYTE, &status);
  int counted = 0;
  MPI_Get_count(&status, MPI_BYTE, &counted);
  if (code != MPI_SUCCESS || counted != (int)bytes) fail(writes, bytes, "fails");
}

static void write_and_compare(MPI_File file, unsigned char* data, unsigned char* host, size_t bytes,
                              int round) {
  for (size_t i = 0; i < bytes; i++) host[i] = value(i, round);
  device_put(KIND_DEVICE, data, host, bytes);
  transfer(1, file, data, bytes);
  memset(host, 0, bytes);
  transfer(0, file, host, bytes);
  for (size_t i = 0; i < bytes; i++) {
    if (host[i] == value(i, round)) continue;
    fail(1, bytes, "the file has other bytes");
    break;
  }
}

// The file has the bytes of `round`.
static void read_and_compare(MPI_File file, unsigned char* data, unsigned char* host, size_t bytes,
                             int round) {
  memset(host, 0, bytes);
  device_put(KIND_DEVICE, data, host, bytes);
  transfer(0, file, data, bytes);
  device_get(KIND_DEVICE, host, data, bytes);
  for (size_t i = 0; i < bytes; i++) {
    if (host[i] == value(i, round)) continue;
    fail(0, bytes, "other bytes were read");
    break;
  }
}

// Memory and streams of the program take the places of what has gone.
static void take_all(unsigned char** taken) {
  for (int i = 0; i < pieces; i++) {
    taken[i] = device_allocate(KIND_PINNED, pinned >> i);
    memset(taken[i], own, pinned >> i);
  }
  for (int i = 0; i < streams; i++) device_make_stream();
}

static void give_back(unsigned char** taken, int writes, size_t bytes) {
  for (int i = 0; i < pieces; i++) {
    size_t touched = 0;
    for (size_t at = 0; at < pinned >> i; at++) touched += taken[i][at] != own;
    if (touched) fail(writes, bytes, "the program's pinned memory was touched");
    device_free(KIND_PINNED, taken[i]);
  }
}

static void reset_between(MPI_File file, unsigned char* host, int writes, size_t bytes, int keeps) {
  unsigned char* taken[pieces];
  const int before = ++cases, after = ++cases;
  unsigned char* data = device_allocate(KIND_DEVICE, bytes);
  write_and_compare(file, data, host, bytes, before);
  device_reset(keeps);
  data = device_allocate(KIND_DEVICE, bytes);
  take_all(taken);
  const long long made = device_count("streams");
  if (writes) {
    write_and_compare(file, data, host, bytes, after);
  } else {
    read_and_compare(file, data, host, bytes, before);
  }
  if (device_count("streams") == made) fail(writes, bytes, "a stream of the program's was used");
  give_back(taken, writes, bytes);
  device_free(KIND_DEVICE, data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc > 3, "run without DIRECTORY, DRIVER and what to keep");
  check(device_open(argv[2]), "open the driver");
  char path[4096];
  snprintf(path, sizeof path, "%s/data", argv[1]);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  unsigned char* host = malloc(largest);
  const size_t all_bytes[] = {1000, 1 << 20, largest};
  for (int i = 0; i < 6; i++) {
    reset_between(file, host, i % 2, all_bytes[i / 2], strcmp(argv[3], "keep") == 0);
  }
  free(host);
  MPI_File_close(&file);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d cases, %d wrong\n", cases, all);
  MPI_Finalize();
  return all != 0;
}
