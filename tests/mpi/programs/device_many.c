// Many calls that were begun and cannot go on yet: the other ranks begin theirs later.
// Usage: device_many DIRECTORY DRIVER independent | collective | split
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"

enum { calls = 500, files = 20, len = 4096, piece = 64 };

static int rank, size, wrong, is_collective;
static unsigned char *host, *data;  ///< of all calls, of the host's memory and of the device's
static MPI_File file[files];
static MPI_Request request[calls];

static unsigned char value(size_t i) {
  return (unsigned char)((i * 7 + i / 251 * 13 + (size_t)rank * 101) | 1);
}

static void fail(const char* what) {
  wrong++;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void must(int code, const char* what) {
  if (code != MPI_SUCCESS) fail(what);
}

// The ranks' pieces alternate, so that they meet.
static void open_file(const char* directory, int i) {
  char path[4096];
  MPI_Datatype one, pieces;
  snprintf(path, sizeof path, "%s/data%d", directory, i);
  MPI_Type_contiguous(piece, MPI_BYTE, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)piece * size, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file[i]);
  MPI_File_set_view(file[i], (MPI_Offset)piece * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_Type_free(&pieces);
  MPI_Type_free(&one);
}

static MPI_Offset place(int i) {
  return (MPI_Offset)i * len;
}

static int start(int writes, int i) {
  unsigned char* mine = data + (size_t)i * len;
  if (is_collective && writes) {
    return MPI_File_iwrite_at_all(file[0], place(i), mine, len, MPI_BYTE, &request[i]);
  }
  if (is_collective) {
    return MPI_File_iread_at_all(file[0], place(i), mine, len, MPI_BYTE, &request[i]);
  }
  if (writes) return MPI_File_iwrite_at(file[0], place(i), mine, len, MPI_BYTE, &request[i]);
  return MPI_File_iread_at(file[0], place(i), mine, len, MPI_BYTE, &request[i]);
}

static void start_all(int writes) {
  for (int i = 0; i < calls; i++) must(start(writes, i), "cannot begin a call");
}

static void wait_for_all(int writes) {
  static MPI_Status status[calls];
  (void)writes;
  must(MPI_Waitall(calls, request, status), "a call fails");
  for (int i = 0; i < calls; i++) {
    int counted = 0;
    MPI_Get_count(&status[i], MPI_BYTE, &counted);
    if (counted != len) fail("a false count");
  }
}

static void begin_all(int writes) {
  for (int i = 0; i < files; i++) {
    unsigned char* mine = data + (size_t)i * len;
    must(writes ? MPI_File_write_at_all_begin(file[i], 0, mine, len, MPI_BYTE)
                : MPI_File_read_at_all_begin(file[i], 0, mine, len, MPI_BYTE),
         "cannot begin a call");
  }
}

static void end_all(int writes) {
  for (int i = 0; i < files; i++) {
    unsigned char* mine = data + (size_t)i * len;
    MPI_Status status;
    int counted = 0;
    must(writes ? MPI_File_write_at_all_end(file[i], mine, &status)
                : MPI_File_read_at_all_end(file[i], mine, &status),
         "a call fails");
    MPI_Get_count(&status, MPI_BYTE, &counted);
    if (counted != len) fail("a false count");
  }
}

static void carry_out(int writes, void (*begin)(int), void (*end)(int)) {
  if (rank == 0) begin(writes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) begin(writes);
  end(writes);
}

static void compare(const unsigned char* found, size_t bytes, const char* what) {
  for (size_t i = 0; i < bytes; i++) {
    if (found[i] == value(i)) continue;
    fail(what);
    return;
  }
}

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc > 3, "run without DIRECTORY, DRIVER and a kind of calls");
  check(device_open(argv[2]), "open the driver");
  const int is_split = strcmp(argv[3], "split") == 0;
  const int num_files = is_split ? files : 1;
  const size_t bytes = (size_t)len * (is_split ? files : calls);
  is_collective = strcmp(argv[3], "collective") == 0;
  host = malloc(bytes);
  data = device_allocate(KIND_DEVICE, bytes);
  for (size_t i = 0; i < bytes; i++) host[i] = value(i);
  device_put(KIND_DEVICE, data, host, bytes);
  for (int i = 0; i < num_files; i++) open_file(argv[1], i);
  carry_out(1, is_split ? begin_all : start_all, is_split ? end_all : wait_for_all);

  memset(host, 0, bytes);
  for (int i = 0; i < num_files; i++) {
    const size_t each = bytes / (size_t)num_files;
    must(MPI_File_read_at_all(file[i], 0, host + i * each, (int)each, MPI_BYTE, MPI_STATUS_IGNORE),
         "cannot read what was written");
  }
  compare(host, bytes, "other bytes were written");
  memset(host, 0, bytes);
  device_put(KIND_DEVICE, data, host, bytes);
  carry_out(0, is_split ? begin_all : start_all, is_split ? end_all : wait_for_all);
  device_get(KIND_DEVICE, host, data, bytes);
  compare(host, bytes, "other bytes were read");

  for (int i = 0; i < num_files; i++) MPI_File_close(&file[i]);
  device_free(KIND_DEVICE, data);
  free(host);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d cases, %d wrong\n", 2 * (is_split ? files : calls), all);
  MPI_Finalize();
  return all != 0;
}
