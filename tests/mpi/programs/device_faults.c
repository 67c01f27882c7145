// What goes wrong with buffers in a device's memory: copies of the driver that fail, a driver that
// has no stream, and one that comes when a file is open already.
// Usage: device_faults DIRECTORY DRIVER fail | stream | late, DRIVER of device_memory.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"

enum { integers = 5 << 18, bytes = 4 * integers, copies = 5 };  ///< each copy of 1 MiB

static int rank, size, wrong, cases;
static char path[4096];
static unsigned char *host, *data;  ///< `bytes` of the host's memory, and of the device's

enum { BLOCKING, NONBLOCKING, SPLIT };

typedef struct {
  int collective, writes;
  int way;  ///< of collective calls too, but that split calls are no others
} Call;

static void fail(Call call, const char* what) {
  wrong++;
  fprintf(stderr, "rank %d, case %d, %s%s: %s\n", rank, cases, call.writes ? "write" : "read",
          call.collective ? "_at_all" : "_at", what);
}

static unsigned char value(size_t i) {
  return (unsigned char)((i * 7 + i / 251 * 13 + (size_t)rank * 101) | 1);
}

static MPI_File open_file(void) {
  MPI_File file;
  if (rank == 0) remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, (MPI_Offset)bytes * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  return file;
}

// What the procedure says that ends a call which goes on when it has begun.
static int transfer_later(Call call, MPI_File file, void* memory, MPI_Status* status) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (call.way == SPLIT) {
    code = call.writes ? MPI_File_write_at_all_begin(file, 0, memory, integers, MPI_INT)
                       : MPI_File_read_at_all_begin(file, 0, memory, integers, MPI_INT);
    if (code != MPI_SUCCESS) return code;
    return call.writes ? MPI_File_write_at_all_end(file, memory, status)
                       : MPI_File_read_at_all_end(file, memory, status);
  }
  if (call.collective) {
    code = call.writes ? MPI_File_iwrite_at_all(file, 0, memory, integers, MPI_INT, &request)
                       : MPI_File_iread_at_all(file, 0, memory, integers, MPI_INT, &request);
  } else {
    code = call.writes ? MPI_File_iwrite_at(file, 0, memory, integers, MPI_INT, &request)
                       : MPI_File_iread_at(file, 0, memory, integers, MPI_INT, &request);
  }
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
}

static int transfer(Call call, MPI_File file, void* memory, MPI_Status* status) {
  memset(status, 0, sizeof *status);
  if (call.way != BLOCKING) return transfer_later(call, file, memory, status);
  if (call.writes && call.collective) {
    return MPI_File_write_at_all(file, 0, memory, integers, MPI_INT, status);
  }
  if (call.writes) return MPI_File_write_at(file, 0, memory, integers, MPI_INT, status);
  if (call.collective) return MPI_File_read_at_all(file, 0, memory, integers, MPI_INT, status);
  return MPI_File_read_at(file, 0, memory, integers, MPI_INT, status);
}

// What the call counts is in the file, or in the device's memory.
static int look_at_count(Call call, MPI_Status* status) {
  int counted = 0;
  MPI_Get_elements(status, MPI_INT, &counted);
  check(counted <= integers, "count what was moved");
  if (counted == MPI_UNDEFINED || counted <= 0) return 0;
  const size_t len = 4 * (size_t)counted;
  unsigned char* found = calloc(len, 1);
  if (call.writes) {
    FILE* file = fopen(path, "rb");
    check(file != NULL && fseek(file, (long)bytes * rank, SEEK_SET) == 0, "open the file by fopen");
    if (fread(found, 1, len, file) != len) fail(call, "counts more than the file has");
    fclose(file);
  } else {
    device_get(KIND_DEVICE, found, data, len);
  }
  size_t bad = 0;
  for (size_t i = 0; i < len; i++) bad += found[i] != value(i);
  if (bad) fail(call, "counts what is not there");
  free(found);
  return counted;
}

static void explain(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int len = 0;
  MPI_Error_string(code, text, &len);
  printf("told: %s\n", text);
}

// Without a failure: nothing is left of the one before.
static void write_again_and_close(Call again, MPI_File file) {
  MPI_Status status;
  device_put(KIND_DEVICE, data, host, bytes);
  if (transfer(again, file, data, &status) != MPI_SUCCESS) fail(again, "the next write fails");
  MPI_File_sync(file);
  if (look_at_count(again, &status) != integers) fail(again, "a false count");
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A copy fails in the last rank's call: that call fails, and each call counts what it has moved.
static void failing_copy(Call call, int nth, int late) {
  const Call again = {.collective = 1, .writes = 1};
  const int fails = rank == size - 1;
  MPI_File file = open_file();
  MPI_Status status;
  if (!call.writes) transfer(again, file, host, &status);
  cases++;
  if (fails) fail_copy(nth, late);
  const int code = transfer(call, file, data, &status);
  const int failed = fail_copy(0, 0);
  if (fails && !failed) fail(call, "no copy failed");
  if (fails && code == MPI_SUCCESS) fail(call, "the failure is not told");
  if (fails && code != MPI_SUCCESS) explain(code);
  const int counted = look_at_count(call, &status);
  if (code == MPI_SUCCESS && counted != integers) fail(call, "a false count");
  write_again_and_close(again, file);
}

static void failing_copies(const char* driver) {
  check(device_open(driver), "open the driver");
  data = device_allocate(KIND_DEVICE, bytes);
  device_put(KIND_DEVICE, data, host, bytes);
  for (int nth = 1; nth <= copies; nth++) {
    for (int which = 0; which < 8; which++) {
      const Call call = {which & 1, which >> 1 & 1};
      failing_copy(call, nth, which >> 2);
    }
  }
}

// The driver has no stream for the last rank's call: that call fails, and the others do not.
static void failing_stream(Call call) {
  const Call again = {.collective = 1, .writes = 1};
  const int fails = rank == size - 1;
  MPI_File file = open_file();
  MPI_Status status;
  transfer(again, file, host, &status);
  cases++;
  if (fails) {
    // One that is kept is not kept when it has failed.
    fail_copy(1, 0);
    transfer((Call){.writes = 1}, file, data, &status);
    fail_copy(0, 0);
    fail_streams(1);
  }
  const int code = transfer(call, file, data, &status);
  fail_streams(0);
  if (fails && code == MPI_SUCCESS) fail(call, "the failure is not told");
  if (fails && code != MPI_SUCCESS) explain(code);
  if (!fails && code != MPI_SUCCESS) fail(call, "another rank's failure is told");
  const int counted = look_at_count(call, &status);
  if (counted != (fails ? 0 : integers)) fail(call, "a false count");
  write_again_and_close(again, file);
}

static void failing_streams(const char* driver) {
  check(device_open(driver), "open the driver");
  data = device_allocate(KIND_DEVICE, bytes);
  device_put(KIND_DEVICE, data, host, bytes);
  for (int writes = 0; writes < 2; writes++) {
    for (int way = BLOCKING; way <= SPLIT; way++) {
      for (int collective = way == SPLIT; collective < 2; collective++) {
        failing_stream((Call){.collective = collective, .writes = writes, .way = way});
      }
    }
  }
}

// The driver comes when a file is open and was written to.
static void late_driver(const char* driver) {
  MPI_File file = open_file();
  MPI_Status status;
  for (int collective = 0; collective < 2; collective++) {
    const Call call = {collective, 1};
    transfer(call, file, host, &status);
  }
  check(device_open(driver), "open the driver");
  data = device_allocate(KIND_DEVICE, bytes);
  unsigned char* nothing = calloc(bytes, 1);
  for (int which = 0; which < 4; which++) {
    const Call call = {which >> 1, which & 1};
    cases++;
    device_put(KIND_DEVICE, data, call.writes ? host : nothing, bytes);
    transfer(call, file, data, &status);
    MPI_File_sync(file);
    if (look_at_count(call, &status) != integers) fail(call, "a false count");
  }
  free(nothing);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc > 3, "run without DIRECTORY, DRIVER and what to do");
  snprintf(path, sizeof path, "%s/data", argv[1]);
  host = malloc(bytes);
  for (size_t i = 0; i < bytes; i++) host[i] = value(i);
  if (strcmp(argv[3], "fail") == 0) {
    failing_copies(argv[2]);
  } else if (strcmp(argv[3], "stream") == 0) {
    failing_streams(argv[2]);
  } else {
    late_driver(argv[2]);
  }
  device_free(KIND_DEVICE, data);
  free(host);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d cases, %d wrong\n", cases, all);
  MPI_Finalize();
  return all != 0;
}
