// Nonblocking and split writes fail, on each rank's own file, and are told in each way that MPI
// has: by what waits for them, else by the file's next sync or close. Once, also where the layer
// lacks memory from some allocation on while it tells.
//
//   untold_writes DIRECTORY
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_fault.h"

enum { BYTES = 5000, ALLOCATIONS = 8, MOST_TRIES = 20000, MOST_WAITS = 600000 };

static StoreFaultArm* arm;
static StoreFaultDisarm* disarm;
static int counter;
static char path[1000];
static MPI_File file;
static int others;          ///< errors of other classes than the fault's
static int expected_class;  ///< the fault's
static int failures;

static void fail_memory(int allocations) {
  StoreFault fault = {.call = STORE_MEMORY, .first = allocations, .error = ENOMEM};
  fault.truncate = fault.at = -1;
  counter = 0;
  if (allocations >= 0) arm(path, &fault, &counter);
}

static void fail_writes(int error) {
  StoreFault fault = {.call = STORE_WRITE, .error = error};
  fault.truncate = fault.at = -1;
  counter = 0;
  arm(path, &fault, &counter);
}

/// Waits until so many writes have met the fault, or for a minute.
static void let_fail(int writes) {
  for (int i = 0; i < MOST_WAITS && __atomic_load_n(&counter, __ATOMIC_SEQ_CST) < writes; i++) {
    usleep(100);
  }
  disarm();
}

/// Whether a call has told of the failed write.
static int tells(int code) {
  int class = MPI_SUCCESS;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_class(code, &class);
  if (class == expected_class) return 1;
  others += 1;
  return 0;
}

/// The writes that have failed are `count`; how often they are told.
typedef int Way(MPI_Request* requests, int allocations);

static int by_wait(MPI_Request* requests, int allocations) {
  fail_memory(allocations);
  int told = tells(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  disarm();
  if (requests[0] != MPI_REQUEST_NULL) told += tells(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  return told;
}

static int wait_for_all(MPI_Request* requests) {
  MPI_Status statuses[2];
  int code = MPI_Waitall(2, requests, statuses);
  if (code != MPI_ERR_IN_STATUS) return tells(code);
  return tells(statuses[0].MPI_ERROR) + tells(statuses[1].MPI_ERROR);
}

static int by_waitall(MPI_Request* requests, int allocations) {
  fail_memory(allocations);
  int told = wait_for_all(requests);
  disarm();
  if (requests[0] != MPI_REQUEST_NULL) told += wait_for_all(requests);
  return told;
}

static int by_sync(MPI_Request* requests, int allocations) {
  (void)requests;
  int told = 0;
  fail_memory(allocations);
  // It waits for nobody: the write may not have failed yet.
  for (int i = 0; i < MOST_TRIES && !told && !others; i++) {
    told = tells(MPI_File_sync(file));
    usleep(100);
  }
  disarm();
  return told;
}

static int given_up_before_sync(MPI_Request* requests, int allocations) {
  for (int flag = 0; !flag;) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  fail_memory(allocations);
  MPI_Request_free(&requests[0]);
  int told = tells(MPI_File_sync(file));
  disarm();
  return told;
}

static int given_up_before_close(MPI_Request* requests, int allocations) {
  fail_memory(allocations);
  MPI_Request_free(&requests[0]);
  int told = tells(MPI_File_close(&file));
  disarm();
  return told;
}

static int by_close(MPI_Request* requests, int allocations) {
  (void)requests;
  fail_memory(allocations);
  int told = tells(MPI_File_close(&file));
  disarm();
  return told;
}

typedef struct {
  const char* name;
  Way* tell;
  int writes;  ///< how often one is told
} WayOfTelling;

static const WayOfTelling ways[] = {{"wait", by_wait, 1},
                                    {"waitall", by_waitall, 2},
                                    {"sync", by_sync, 1},
                                    {"given up before sync", given_up_before_sync, 1},
                                    {"given up before close", given_up_before_close, 1},
                                    {"close", by_close, 1}};

static void open_file(void) {
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void judge(const char* name, int error, int allocations, int told, int wanted) {
  // One that lacks memory may say so, too.
  if (told == wanted && (others == 0 || allocations >= 0)) return;
  printf("%s, %s, %d allocations: told %d times instead of %d, %d other errors\n", name,
         strerror(error), allocations, told, wanted, others);
  failures += 1;
}

static void try_way(const WayOfTelling* way, int error, int allocations) {
  static int data[2][BYTES / sizeof(int)];
  MPI_Request requests[2];
  others = 0;
  open_file();
  fail_writes(error);
  for (int i = 0; i < way->writes; i++) {
    MPI_File_iwrite(file, data[i], BYTES / sizeof(int), MPI_INT, &requests[i]);
  }
  let_fail(way->writes);
  int told = way->tell(requests, allocations);
  if (file != MPI_FILE_NULL) told += tells(MPI_File_sync(file));
  if (file != MPI_FILE_NULL) told += tells(MPI_File_close(&file));
  judge(way->name, error, allocations, told, way->writes);
  if (way->tell == by_sync || way->tell == by_close) MPI_Request_free(&requests[0]);
}

static void try_split(int error, int allocations) {
  static int data[BYTES / sizeof(int)];
  others = 0;
  open_file();
  fail_writes(error);
  MPI_File_write_all_begin(file, data, BYTES / sizeof(int), MPI_INT);
  let_fail(1);
  fail_memory(allocations);
  int told = tells(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
  disarm();
  told += tells(MPI_File_sync(file)) + tells(MPI_File_close(&file));
  judge("split", error, allocations, told, 1);
}

static void try_all(int error, int class) {
  expected_class = class;
  for (int allocations = -1; allocations < ALLOCATIONS; allocations++) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) try_way(&ways[i], error, allocations);
    try_split(error, allocations);
  }
}

int main(int argc, char** argv) {
  int rank = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  arm = (StoreFaultArm*)dlsym(RTLD_DEFAULT, "store_fault_arm");
  disarm = (StoreFaultDisarm*)dlsym(RTLD_DEFAULT, "store_fault_disarm");
  if (argc != 2 || !arm || !disarm) MPI_Abort(MPI_COMM_WORLD, 2);
  snprintf(path, sizeof path, "%s/rank%d", argv[1], rank);
  try_all(EFBIG, MPI_ERR_IO);
  try_all(EIO, MPI_ERR_IO);
  try_all(ENOSPC, MPI_ERR_NO_SPACE);
  try_all(EACCES, MPI_ERR_ACCESS);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d failures\n", all);
  MPI_Finalize();
  return all != 0;
}
