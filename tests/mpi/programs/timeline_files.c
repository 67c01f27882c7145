/* Calls on files whose begin and end the program writes down itself: MPI-IO, descriptors, streams.
 *
 *     timeline_files SEED STEPS TALLY FOLDER
 *
 * Each rank has two files of its own in FOLDER, and all share one of MPI-IO. One thread that never
 * calls MPI uses a third. Each rank writes to TALLY.RANK a line for each call that has ended,
 * "THREAD KIND NAME BEGIN END BYTES OFFSET REGION FILE", times in ns of CLOCK_MONOTONIC. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "pat_api.h"

enum { kMost = 3000, kNowhere = -1 };

struct note {
  const char *kind, *name;
  long begin, end, bytes, offset;
  int region;
  char file[40];
};

/* What one thread does. */
struct own {
  unsigned seed;
  int steps, count, room, region;
  struct note* notes;
};

static int rank;
static const char* folder;
static char buffer[kMost];

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static unsigned chance(struct own* own, unsigned below) {
  own->seed = own->seed * 1103515245u + 12345u;
  return (own->seed >> 16) % below;
}

static void note(struct own* own, const char* kind, const char* name, long begin, long bytes,
                 long offset, const char* file) {
  const long end = now();
  if (own->count == own->room) {
    own->room = own->room == 0 ? 1024 : 2 * own->room;
    own->notes = realloc(own->notes, (size_t)own->room * sizeof *own->notes);
    if (own->notes == NULL) abort();
  }
  struct note* const made = &own->notes[own->count++];
  *made = (struct note){.kind = kind,
                        .name = name,
                        .begin = begin,
                        .end = end,
                        .bytes = bytes,
                        .offset = offset,
                        .region = own->region};
  snprintf(made->file, sizeof made->file, "%s", file);
}

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s failed\n", what);
  abort();
}

#define CALL(in, what, moved, place, call, holds)                 \
  do {                                                            \
    const long begin_of_call = now();                             \
    call;                                                         \
    note(own, in, what, begin_of_call, moved, place, file->name); \
    require(holds, #call);                                        \
  } while (0)

struct file {
  char name[40], path[4096];
  int descriptor;
  FILE* stream;
  long position;
};

static void set_name(struct file* file, const char* what) {
  snprintf(file->name, sizeof file->name, "%s.%d", what, rank);
  snprintf(file->path, sizeof file->path, "%s/%s", folder, file->name);
}

static void open_descriptor(struct own* own, struct file* file) {
  CALL("posix", "open", 0, kNowhere,
       file->descriptor = open(file->path, O_RDWR | O_CREAT | O_TRUNC, 0600),
       file->descriptor >= 0);
}

static void close_descriptor(struct own* own, struct file* file) {
  int code;
  CALL("posix", "close", 0, kNowhere, code = close(file->descriptor), code == 0);
}

static void use_descriptor(struct own* own, struct file* file) {
  const long bytes = 1 + (long)chance(own, kMost), offset = (long)chance(own, 1 << 20);
  long code;
  void* memory;
  switch (chance(own, 8)) {
    case 0:
      CALL("posix", "write", bytes, file->position,
           code = write(file->descriptor, buffer, (size_t)bytes), code == bytes);
      file->position += bytes;
      break;
    case 1:
    case 2:
      CALL("posix", "write", bytes, offset,
           code = pwrite(file->descriptor, buffer, (size_t)bytes, offset), code == bytes);
      break;
    case 3:
      CALL("posix", "write", bytes, offset,
           code = pwrite(file->descriptor, buffer, (size_t)bytes, offset), code == bytes);
      CALL("posix", "read", bytes, offset,
           code = pread(file->descriptor, buffer, (size_t)bytes, offset), code == bytes);
      break;
    case 4:
      CALL("posix", "seek", 0, offset, code = lseek(file->descriptor, offset, SEEK_SET),
           code == offset);
      file->position = offset;
      break;
    case 5:
      CALL("posix", "sync", 0, kNowhere, code = fdatasync(file->descriptor), code == 0);
      break;
    case 6:
      CALL("posix", "truncate", 0, kNowhere, code = ftruncate(file->descriptor, 1 << 21),
           code == 0);
      break;
    default:
      CALL("posix", "map", 0, 4096,
           memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file->descriptor, 4096),
           memory != MAP_FAILED);
      munmap(memory, 4096);
  }
}

static void use_stream(struct own* own, struct file* file) {
  const long bytes = 1 + (long)chance(own, 200);
  long code;
  switch (chance(own, 4)) {
    case 0: /* mostly within the stream's buffer */
    case 1:
      CALL("stdio", "write", bytes, kNowhere,
           code = (long)fwrite(buffer, 1, (size_t)bytes, file->stream), code == bytes);
      break;
    case 2:
      CALL("stdio", "write", 6, kNowhere, code = fprintf(file->stream, "%06ld", bytes), code == 6);
      break;
    default: CALL("stdio", "sync", 0, kNowhere, code = fflush(file->stream), code == 0);
  }
}

static void use_mpi(struct own* own, struct file* file, MPI_File handle) {
  const int bytes = 1 + (int)chance(own, kMost);
  const MPI_Offset place = (MPI_Offset)rank * kMost;
  int code;
  MPI_Request request;
  switch (chance(own, 4)) {
    case 0:
      CALL("mpi-io", "MPI_File_write_at_all", bytes, kNowhere,
           code = MPI_File_write_at_all(handle, place, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           code == MPI_SUCCESS);
      break;
    case 1:
      CALL("mpi-io", "MPI_File_write_at", bytes, kNowhere,
           code = MPI_File_write_at(handle, place, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           code == MPI_SUCCESS);
      CALL("mpi-io", "MPI_File_read_at", bytes, kNowhere,
           code = MPI_File_read_at(handle, place, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           code == MPI_SUCCESS);
      break;
    case 2:
      CALL("mpi-io", "MPI_File_iwrite_at", bytes, kNowhere,
           code = MPI_File_iwrite_at(handle, place, buffer, bytes, MPI_BYTE, &request),
           code == MPI_SUCCESS);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    default:
      CALL("mpi-io", "MPI_File_sync", 0, kNowhere, code = MPI_File_sync(handle),
           code == MPI_SUCCESS);
  }
}

/* Before and after it has no region, so calls differ in theirs. */
static void change_region(struct own* own) {
  if (own->region == 0) {
    own->region = 1 + (int)chance(own, 3);
    char label[20];
    snprintf(label, sizeof label, "part<%d>", own->region);
    headrace_region_begin(own->region, label);
  } else {
    headrace_region_end(own->region);
    own->region = 0;
  }
}

static volatile sig_atomic_t is_off;
static pthread_mutex_t recorded = PTHREAD_MUTEX_INITIALIZER; /* held while it is on, or off */

/* Calls that are not to be seen. */
static void work_unrecorded(struct file* file) {
  pthread_mutex_lock(&recorded);
  is_off = 1;
  MPI_Pcontrol(0);
  require(pwrite(file->descriptor, buffer, 10, 0) == 10, "pwrite");
  MPI_Pcontrol(1);
  is_off = 0;
  pthread_mutex_unlock(&recorded);
}

static void* run_thread(void* given) {
  struct own* const own = given;
  struct file file = {.position = 0};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  set_name(&file, "thread");
  pthread_mutex_lock(&recorded);
  open_descriptor(own, &file);
  pthread_mutex_unlock(&recorded);
  for (int i = 0; i < own->steps; i++) {
    pthread_mutex_lock(&recorded);
    use_descriptor(own, &file);
    pthread_mutex_unlock(&recorded);
  }
  pthread_mutex_lock(&recorded);
  close_descriptor(own, &file);
  pthread_mutex_unlock(&recorded);
  return NULL;
}

/* What a signal handler writes: it interrupts other calls on files. */
static struct own in_handler;
static struct file of_handler;
static pthread_t main_thread;

static void handle(int signal) {
  struct own* const own = &in_handler;
  struct file* const file = &of_handler;
  long code;
  (void)signal;
  if (is_off || own->count == own->room || !pthread_equal(pthread_self(), main_thread)) return;
  CALL("posix", "write", 7, own->count * 7L,
       code = pwrite(file->descriptor, buffer, 7, own->count * 7L), code == 7);
}

static void start_handler(void) {
  main_thread = pthread_self();
  in_handler.room = 500;
  in_handler.region = -1; /* that of what it interrupts */
  in_handler.notes = calloc(500, sizeof *in_handler.notes);
  if (in_handler.notes == NULL) abort();
  set_name(&of_handler, "handler");
  open_descriptor(&in_handler, &of_handler);
  struct sigaction action = {.sa_handler = &handle, .sa_flags = SA_RESTART};
  const struct timeval often = {.tv_usec = 2000};
  const struct itimerval timer = {often, often};
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &timer, NULL);
}

static void end_handler(void) {
  const struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &off, NULL);
  signal(SIGPROF, SIG_IGN);
  close_descriptor(&in_handler, &of_handler);
}

static void write_tally(const char* tally, const struct own* all) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", tally, rank);
  FILE* const file = fopen(name, "w");
  if (file == NULL) abort();
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < all[i].count; k++) {
      const struct note* const one = &all[i].notes[k];
      fprintf(file, "%d %s %s %ld %ld %ld %ld %d %s\n", i, one->kind, one->name, one->begin,
              one->end, one->bytes, one->offset, one->region, one->file);
    }
  }
  if (fclose(file) != 0) abort();
}

static void run(struct own* own) {
  struct file plain = {.position = 0}, text = {.position = 0}, shared = {.position = 0};
  struct file* file = &text;
  MPI_File handle;
  int code;
  set_name(&plain, "plain");
  set_name(&text, "text");
  snprintf(shared.name, sizeof shared.name, "shared");
  snprintf(shared.path, sizeof shared.path, "%s/shared", folder);
  pthread_mutex_lock(&recorded); /* who finds another thread adding a file may not wait for it */
  open_descriptor(own, &plain);
  CALL("stdio", "open", 0, kNowhere, file->stream = fopen(file->path, "w"), file->stream != NULL);
  pthread_mutex_unlock(&recorded);
  file = &shared;
  CALL("mpi-io", "MPI_File_open", 0, kNowhere,
       code = MPI_File_open(MPI_COMM_WORLD, file->path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &handle),
       code == MPI_SUCCESS);
  for (int i = 0; i < own->steps; i++) {
    struct own all = {.seed = (unsigned)i * 7919u + 13u}; /* the same on all ranks */
    const unsigned what = chance(&all, 5);
    if (what == 0) {
      own->seed = all.seed;
      use_mpi(own, &shared, handle);
      own->seed += (unsigned)rank;
    } else if (what == 1) {
      use_stream(own, &text);
    } else if (what == 2) {
      change_region(own);
    } else {
      use_descriptor(own, &plain);
    }
    if (i % 100 == 50) work_unrecorded(&plain);
  }
  if (own->region != 0) change_region(own);
  file = &shared;
  CALL("mpi-io", "MPI_File_close", 0, kNowhere, code = MPI_File_close(&handle),
       code == MPI_SUCCESS);
  file = &text;
  CALL("stdio", "close", 0, kNowhere, code = fclose(file->stream), code == 0);
  close_descriptor(own, &plain);
}

int main(int argc, char** argv) {
  struct own all[3];
  pthread_t thread;
  if (argc < 5) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  folder = argv[4];
  for (int i = 0; i < 2; i++) {
    all[i] = (struct own){.seed = (unsigned)atoi(argv[1]) + (unsigned)(i + 2 * rank),
                          .steps = atoi(argv[2]) / (i + 1)};
  }
  start_handler();
  if (pthread_create(&thread, NULL, &run_thread, &all[1]) != 0) abort();
  run(&all[0]);
  pthread_join(thread, NULL);
  end_handler();
  all[2] = in_handler;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  write_tally(argv[3], all);
  MPI_Finalize();
  return 0;
}
