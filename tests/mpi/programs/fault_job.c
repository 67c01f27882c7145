// Writes and reads files while the store fails, and says what came of it.
//
//   fault_job DIRECTORY PLAN
//
// Each line of PLAN is a case, `NAME key=value ...` (see Job). A case has its own directory,
// DIRECTORY/NAME, and these steps, around one of which the fault is armed: open, set the view and
// the hints, transfer, sync, transfer again, size, resize and allocate, close. Each rank prints a
// line of facts for each case, `NAME rank=R key=value ...`; what they must be is known to Python
// (faults/).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault_data.h"
#include "fault_limits.h"
#include "harness.h"
#include "store_fault.h"

enum { SECONDS = 300 };
// Where a fault may be armed: around the step whose call it is, or that `in=` names.
enum { STEP_VIEW = STORE_CALLS, STEP_HINTS, STEP_COUNT };
static const char* const steps[STEP_COUNT] = {"read",   "write",  "sync",   "close",
                                              "open",   "size",   "resize", "allocate",
                                              "delete", "memory", "view",   "hints"};

typedef struct {
  char name[128];
  int writes;   ///< dir=write or read
  int method;   ///< how=, the harness's name with - for blanks
  Shape shape;  ///< blocks: one a rank; turns: pieces of all ranks in turn; holes: with gaps
  long bytes;   ///< of a rank
  int filled;   ///< 1: the file has other bytes before a write
  int only;     ///< rank=, the fault is this rank's; -1: all ranks'
  long limit;   ///< RLIMIT_FSIZE, 0 for none
  int fresh;    ///< 1: the file is the first of its communicator
  int step;     ///< call= or in=, the step around which the fault is armed; -1: none
  StoreFault fault;
  char path[1100];
} Job;

static int rank, size;
static char line[4000];
static int* counter;
static char current[128];

static void say(const char* format, ...) {
  size_t used = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + used, sizeof line - used, format, arguments);
  va_end(arguments);
}

static void on_alarm(int number) {
  (void)number;
  dprintf(STDOUT_FILENO, "\n%s rank=%d hangs=1\n", current, rank);
  _exit(9);
}

static int place_of(const char* const* names, int count, const char* name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  return -1;
}

static int method_of(const char* name) {
  for (int method = 0; method < 64; method++) {
    int plain = method & 15;
    if (plain > ORDERED || (method & 48) == 48) continue;
    if ((method & NONBLOCKING) && plain == ORDERED) continue;
    char shown[32];
    snprintf(shown, sizeof shown, "%s", method_name(method));
    if (strchr(shown, ' ')) *strchr(shown, ' ') = '-';
    if (strcmp(shown, name) == 0) return method;
  }
  fprintf(stderr, "no method %s\n", name);
  exit(2);
}

static void set(Job* one, const char* key, const char* value, const char* poke) {
  static const char* const shapes[] = {"blocks", "turns", "holes"};
  if (strcmp(key, "dir") == 0) one->writes = strcmp(value, "write") == 0;
  if (strcmp(key, "how") == 0) one->method = method_of(value);
  if (strcmp(key, "shape") == 0) one->shape = (Shape)place_of(shapes, 3, value);
  if (strcmp(key, "bytes") == 0) one->bytes = atol(value);
  if (strcmp(key, "filled") == 0) one->filled = atoi(value);
  if (strcmp(key, "fresh") == 0) one->fresh = atoi(value);
  if (strcmp(key, "rank") == 0) one->only = atoi(value);
  if (strcmp(key, "limit") == 0) one->limit = atol(value);
  if (strcmp(key, "call") == 0) one->step = one->fault.call = place_of(steps, STORE_CALLS, value);
  if (strcmp(key, "in") == 0) one->step = place_of(steps, STEP_COUNT, value);
  if (strcmp(key, "first") == 0) one->fault.first = atoi(value);
  if (strcmp(key, "times") == 0) one->fault.times = atoi(value);
  if (strcmp(key, "error") == 0) one->fault.error = atoi(value);
  if (strcmp(key, "most") == 0) one->fault.most = atol(value);
  if (strcmp(key, "at") == 0) one->fault.at = atol(value);
  if (strcmp(key, "delay") == 0) one->fault.delay = atoi(value);
  if (strcmp(key, "truncate") == 0) one->fault.truncate = atol(value);
  if (strcmp(key, "signal") == 0) one->fault.signal = atoi(value);
  if (strcmp(key, "remove") == 0) one->fault.remove = atoi(value);
  if (strcmp(key, "poke") == 0) one->fault.poke = poke;
}

static Job parse(char* text, const char* directory) {
  Job one = {.writes = 1, .bytes = 300000, .filled = 1, .only = -1, .step = -1};
  one.fault.truncate = one.fault.at = -1;
  snprintf(one.name, sizeof one.name, "%s", strtok(text, " \n"));
  for (char* word; (word = strtok(NULL, " \n"));) {
    char* value = strchr(word, '=');
    *value++ = 0;
    set(&one, word, value, strcmp(word, "poke") == 0 ? strdup(value) : NULL);
  }
  snprintf(one.path, sizeof one.path, "%s/%s/data", directory, one.name);
  return one;
}

static void arm(const Job* one, int step) {
  int here = one->only < 0 || one->only == rank;
  if (one->limit && step == STORE_WRITE && here) {
    struct rlimit limit = {(rlim_t)one->limit, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (one->step != step) return;
  if (rank == 0) *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  StoreFaultArm* function = (StoreFaultArm*)dlsym(RTLD_DEFAULT, "store_fault_arm");
  if (!function) {
    fprintf(stderr, "store_fault.so is not preloaded\n");
    exit(2);
  }
  if (here) function(one->path, &one->fault, counter);
}

static void disarm(const Job* one, int step) {
  struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  if (one->limit && step == STORE_WRITE) setrlimit(RLIMIT_FSIZE, &none);
  if (one->step != step) return;
  MPI_Barrier(MPI_COMM_WORLD);
  int met = ((StoreFaultDisarm*)dlsym(RTLD_DEFAULT, "store_fault_disarm"))();
  if (one->only < 0 || one->only == rank) say(" met=%d", met);
}

// One step with the fault around it, where the fault is of this step.
#define STEP(one, step, name, call)         \
  do {                                      \
    arm(one, step);                         \
    int code_ = call;                       \
    disarm(one, step);                      \
    say(" %s=%s", name, class_name(code_)); \
    MPI_Barrier(MPI_COMM_WORLD);            \
  } while (0)

static MPI_Info hints(const Job* one) {
  const char* path = one->shape == BLOCKS ? "automatic" : "staged";
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headrace_write_path", path);
  MPI_Info_set(info, "headrace_read_path", path);
  return info;
}

static void look_at_parts(const Job* one, MPI_File file, int step) {
  if (step < 0) return (void)set_view(file, one->shape, one->method, rank, size, one->bytes);
  int code = MPI_SUCCESS;
  STEP(one, STEP_VIEW, "view",
       code = set_view(file, one->shape, one->method, rank, size, one->bytes));
  if (code != MPI_SUCCESS) set_view(file, one->shape, one->method, rank, size, one->bytes);
  MPI_Info info = hints(one);
  STEP(one, STEP_HINTS, "hints", MPI_File_set_info(file, info));
  MPI_Info_free(&info);
}

// Calls with the shared pointer take turns, so that each rank's bytes have their place.
static int transfer_in_turn(const Job* one, MPI_File file, MPI_Offset offset, void* memory,
                            MPI_Status* status) {
  int has_turns = (one->method & 15) == SHARED, code = MPI_SUCCESS;
  for (int turn = 0; turn < (has_turns ? size : 1); turn++) {
    if (!has_turns || turn == rank) {
      code = transfer(file, one->writes, one->method, 0, offset, memory, (int)one->bytes, MPI_BYTE,
                      status);
    }
    if (has_turns) MPI_Barrier(MPI_COMM_WORLD);
  }
  return code;
}

// The transfer itself: what the status says, and what is really there.
static void move(const Job* one, MPI_File file, int step) {
  unsigned char* memory = malloc((size_t)one->bytes);
  memset(memory, 0, (size_t)one->bytes);
  if (one->writes) fill_data(memory, one->bytes, rank);
  look_at_parts(one, file, step);
  MPI_Status status;
  memset(&status, 0, sizeof status);
  MPI_Offset offset = one->shape == BLOCKS && has_offset(one->method) ? rank * one->bytes : 0;
  int count = -1;
  arm(one, step);
  int code = transfer_in_turn(one, file, offset, memory, &status);
  disarm(one, step);
  MPI_Get_count(&status, MPI_BYTE, &count);
  // The second time no fault is armed.
  const char* prefix = step < 0 ? "again" : "";
  say(" %s=%s %scount=%d", step < 0 ? "again" : "transfer", class_name(code), prefix, count);
  MPI_Barrier(MPI_COMM_WORLD);
  int rest = one->filled ? FILL : 0;
  Found found = one->writes ? find_in_file(one->path, one->shape, rank, size, one->bytes, rest)
                            : find_in_memory(memory, one->bytes, rank);
  say(" %spresent=%ld %sforeign=%ld", prefix, found.present, prefix, found.foreign);
  MPI_Barrier(MPI_COMM_WORLD);
  free(memory);
}

static int descriptors(void) {
  int open_ones = 0;
  for (int i = 0; i < 1024; i++) open_ones += fcntl(i, F_GETFD) >= 0;
  return open_ones;
}

static int reopen(const Job* one, MPI_Comm ranks, MPI_Info info, int mode, MPI_File* file) {
  return MPI_File_open(ranks, one->path, mode, info, file);
}

static char* one_word(char* text) {
  for (char* c = text; *c; c++) *c = *c == ' ' ? '_' : *c;
  return text;
}

static void run(const Job* one) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info = hints(one);
  MPI_Comm ranks = MPI_COMM_WORLD;
  if (one->fresh) MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
  if (rank == 0) make_file(one->path, one->shape, size, one->bytes, one->writes, one->filled);
  MPI_Barrier(MPI_COMM_WORLD);
  int before = descriptors();
  int removes = one->step == STORE_DELETE;
  int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | (removes ? MPI_MODE_DELETE_ON_CLOSE : 0);
  arm(one, STORE_OPEN);
  int code = reopen(one, ranks, info, mode, &file);
  disarm(one, STORE_OPEN);
  say(" open=%s", class_name(code));
  MPI_Barrier(MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) {
    code = reopen(one, ranks, info, mode, &file);
    say(" reopen=%s", class_name(code));
  }
  if (code == MPI_SUCCESS) {
    char taken[256];
    move(one, file, one->writes ? STORE_WRITE : STORE_READ);
    info_value(file, one->writes ? "headrace_write_taken" : "headrace_read_taken", taken, 256);
    say(" taken=%s", taken[0] ? taken : "nothing");
    info_value(file, one->writes ? "headrace_write_reason" : "headrace_read_reason", taken, 256);
    say(" reason=%s", one_word(taken));
    info_value(file, "headrace_shared_memory", taken, 256);
    say(" memory=%s", one_word(taken));
    STEP(one, STORE_SYNC, "sync", MPI_File_sync(file));
    if (!one->fault.remove && one->fault.truncate < 0) move(one, file, -2);
    MPI_Offset bytes = 0;
    STEP(one, STORE_SIZE, "size", MPI_File_get_size(file, &bytes));
    STEP(one, STORE_RESIZE, "resize", MPI_File_set_size(file, 4 * one->bytes * size));
    STEP(one, STORE_ALLOCATE, "allocate", MPI_File_preallocate(file, 4 * one->bytes * size));
    arm(one, STORE_DELETE);
    STEP(one, STORE_CLOSE, "close", MPI_File_close(&file));
    disarm(one, STORE_DELETE);
  }
  MPI_Info_free(&info);
  if (one->fresh) MPI_Comm_free(&ranks);
  say(" leaked=%d", descriptors() - before);
}

// Every rank's line, in rank order, from rank 0: ranks' own output could mix.
static void print_lines(void) {
  if (rank > 0) {
    MPI_Send(line, sizeof line, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    return;
  }
  puts(line);
  for (int other = 1; other < size; other++) {
    MPI_Recv(line, sizeof line, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(line);
  }
  fflush(stdout);
}

static int* shared_number(const char* directory) {
  char path[1100];
  snprintf(path, sizeof path, "%s/.counter", directory);
  int descriptor = open(path, O_RDWR | O_CREAT, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(int)) != 0) perror(path);
  int* number = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return number;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  signal(SIGALRM, on_alarm);
  FILE* plan = argc == 3 ? fopen(argv[2], "r") : NULL;
  if (!plan) {
    fprintf(stderr, "usage: fault_job DIRECTORY PLAN\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  counter = shared_number(argv[1]);
  if (getenv("FAULT_LIMITS")) take_away(getenv("FAULT_LIMITS"), rank);
  char text[2000];
  // The first file of all brings what stays: shared memory.
  Job first = parse(strcpy(text, "first how=all shape=turns"), argv[1]);
  run(&first);
  // It takes no room from those that follow.
  if (rank == 0) remove_file(first.path);
  MPI_Barrier(MPI_COMM_WORLD);
  while (fgets(text, sizeof text, plan)) {
    Job one = parse(text, argv[1]);
    snprintf(current, sizeof current, "%s", one.name);
    snprintf(line, sizeof line, "%s rank=%d", one.name, rank);
    alarm(SECONDS);
    run(&one);
    alarm(0);
    print_lines();
    if (rank == 0) remove_file(one.path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (getenv("FAULT_LIMITS")) give_back();
  if (rank == 0) puts("end");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
