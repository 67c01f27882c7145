// Files of the program's own that buffers may hold back (HEADRACE_IOBUF), and ways in which the
// program or its descriptors end.
//
//   own_ends DIRECTORY RECORDS END
//
// Each rank writes RECORDS records of 64 bytes, of which each byte of record i is 1 + i % 250, to
// RANK.calls by write and to RANK.stream by fwrite, and closes neither. What is written must be
// there whatever END is:
//
//   return, exit, quick, now, handler, abort, assert, exec, child, job     how the process ends: by
//        return, exit, quick_exit, _exit, _exit in a signal's handler, abort, a failed assert,
//        exec, exit after a child's _exit, MPI_Abort
//   stale      exit, after the _exit of a child whose copy of the stream's buffer is old by then
//   limited:END   the same, where nothing more can be written
//   raw, range, from, copy                        how the descriptor is closed: by syscall(close),
//        close_range, closefrom, dup2; then the process ends by exit
//   within     a handler writes to the descriptor while the program does: prints "records N", of
//        which some are the handler's, whose bytes are 251
//   jumps      a handler jumps out of writes for good, after a time or a number of instructions,
//        and another thread writes then: prints "jumps N steps N", how many jumps were of each
//   full, limit   the file system takes no more than a part, or the process has a limit for files:
//        prints "told N closed N", calls that failed, and whether the descriptor is closed after
//        close
//   read       reads RANK.calls, which is there, by records: prints "right N"
//
// "calls N" is the system calls that read or write which the loop of write or read has made.
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abort_job.h"

enum { bytes = 64 };

static char calls_name[4200], stream_name[4200];
static int descriptor;
static long long records, told;
static FILE* stream;
static volatile sig_atomic_t by_handler, misses;

static void fill(unsigned char* record, long long i) {
  memset(record, (int)(1 + i % 250), bytes);
}

static void leave_at_once(int signal) {
  (void)signal;
  _exit(0);
}

static void write_too(int signal) {
  unsigned char record[bytes];
  const int kept = errno;
  (void)signal;
  memset(record, 251, bytes);
  if (write(descriptor, record, bytes) == bytes) {
    by_handler += 1;
  } else {
    misses += 1;
  }
  errno = kept;
}

static long long calls_of_kernel(void) {
  char text[1000], *at;
  const int file = open("/proc/self/io", O_RDONLY);
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return -1;
  text[got] = 0;
  long long sum = 0;
  for (int i = 0; i < 2; ++i) {
    at = strstr(text, i ? "syscw: " : "syscr: ");
    if (at == NULL) return -1;
    sum += atoll(at + 7);
  }
  return sum;
}

static void write_calls(void) {
  unsigned char record[bytes];
  for (long long i = 0; i < records; ++i) {
    fill(record, i);
    told += write(descriptor, record, bytes) != bytes;
  }
}

static void write_stream(void) {
  unsigned char record[bytes];
  for (long long i = 0; i < records; ++i) {
    fill(record, i);
    told += fwrite(record, bytes, 1, stream) != 1;
    if (i == records / 2) told += fflush(stream) != 0;
  }
}

static void read_calls(void) {
  unsigned char record[bytes], expected[bytes];
  long long right = 0;
  descriptor = open(calls_name, O_RDONLY);
  const long long before = calls_of_kernel();
  for (long long i = 0; i < records; ++i) {
    fill(expected, i);
    right += read(descriptor, record, bytes) == bytes && memcmp(record, expected, bytes) == 0;
  }
  const long long after = calls_of_kernel();
  right += read(descriptor, record, bytes) == 0;
  printf("right %lld\ncalls %lld\n", right, after - before);
}

static void write_within(void) {
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = write_too, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  write_calls();
  setitimer(ITIMER_REAL, &never, NULL);
  told += misses;
  told += close(descriptor) != 0;
  printf("records %lld handler %d told %lld\n", records + by_handler, (int)by_handler, told);
}

static sigjmp_buf target;
static volatile sig_atomic_t may_jump;
static pthread_t jumper;

static void jump_out(int signal) {
  (void)signal;
  if (!may_jump || !pthread_equal(pthread_self(), jumper)) return;
  may_jump = 0;
  siglongjmp(target, 1);
}

static void* write_one(void* told) {
  unsigned char record[bytes];
  memset(record, 251, bytes);
  *(int*)told = write(descriptor, record, bytes) != bytes;
  return NULL;
}

static int write_until_jump(void) {
  unsigned char record[bytes] = {0};
  if (sigsetjmp(target, 1) != 0) return 1;
  may_jump = 1;
  for (int i = 0; i < 10000; ++i) write(descriptor, record, bytes);
  may_jump = 0;
  return 0;
}

static volatile sig_atomic_t steps;

static void count_step(int signal) {
  if (steps > 0 && --steps == 0) jump_out(signal);
}

/// One write, of which each instruction is a signal. Whether it has so many.
static int write_to_step(int last) {
  unsigned char record[bytes] = {0};
  if (sigsetjmp(target, 1) != 0) return 1;
  steps = last;
  may_jump = 1;
#if defined(__x86_64__)
  enum { trap_flag = 0x100 };
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | trap_flag);
  write(descriptor, record, bytes);
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(long long)trap_flag);
#endif
  may_jump = 0;
  return 0;
}

/// After a jump. The other thread would wait forever for what this one had left locked.
static void write_by_another(void) {
  int is_told = 0;
  pthread_t other;
  told += pthread_create(&other, NULL, write_one, &is_told) != 0;
  pthread_join(other, NULL);
  told += is_told;
}

static void write_jumping(void) {
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  struct sigaction jumping = {.sa_handler = jump_out}, counting = {.sa_handler = count_step};
  int jumps = 0, last = 1;
  jumper = pthread_self();
  sigaction(SIGALRM, &jumping, NULL);
  sigaction(SIGTRAP, &counting, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (long long i = 0; i < records; ++i) {
    if (!write_until_jump()) continue;
    jumps += 1;
    write_by_another();
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (; write_to_step(last); ++last) write_by_another();
  told += close(descriptor) != 0;
  printf("jumps %d steps %d told %lld\n", jumps, last - 1, told);
}

static void fill_up(int is_limited) {
  const struct rlimit limit = {100 * bytes + 32, RLIM_INFINITY};
  signal(SIGXFSZ, SIG_IGN);
  if (is_limited) setrlimit(RLIMIT_FSIZE, &limit);
  write_calls();
  told += fsync(descriptor) != 0;
  told += close(descriptor) != 0;
  if (is_limited) setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
  printf("told %lld closed %d\n", told, fcntl(descriptor, F_GETFD) == -1 && errno == EBADF);
}

/// What the child has a copy of was to come to the file's begin, where other bytes are meanwhile.
static void leave_stale_child(void) {
  unsigned char record[bytes] = {0};
  int ends[2], status;
  char word = 0;
  told += fflush(stream) != 0 || pipe(ends) != 0;
  rewind(stream);
  fwrite(record, bytes, 1, stream);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read(ends[0], &word, 1) != 0);
  }
  rewind(stream);
  fill(record, 0);
  fwrite(record, bytes, 1, stream);
  rewind(stream);
  close(ends[1]);
  waitpid(child, &status, 0);
  exit(0);
}

static const char* allowed(const char* how) {
  static const char begin[] = "limited:";
  if (strncmp(how, begin, sizeof begin - 1) != 0) return how;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){100 * bytes, RLIM_INFINITY});
  return how + sizeof begin - 1;
}

static void end(const char* how, char** words) {
  int status;
  if (!strcmp(how, "exit")) exit(0);
  if (!strcmp(how, "quick")) quick_exit(0);
  if (!strcmp(how, "now")) _exit(0);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "assert")) assert(how == NULL);
  if (!strcmp(how, "job")) abort_job(3);
  if (!strcmp(how, "exec")) execl("/bin/true", words[0], (char*)NULL);
  if (!strcmp(how, "handler")) {
    signal(SIGTERM, leave_at_once);
    raise(SIGTERM);
  }
  if (!strcmp(how, "child")) {
    fflush(stream);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, &status, 0);
    exit(0);
  }
  if (!strcmp(how, "stale")) leave_stale_child();
  if (!strcmp(how, "raw")) syscall(SYS_close, descriptor);
  if (!strcmp(how, "range")) close_range((unsigned)descriptor, (unsigned)descriptor, 0);
  if (!strcmp(how, "from")) {
    fclose(stream);  // which is above it, or below
    closefrom(descriptor);
    _exit(0);  // MPI has no descriptors left
  }
  if (!strcmp(how, "copy")) dup2(0, descriptor);
}

int main(int count, char** words) {
  int rank = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const how = words[3];
  snprintf(calls_name, sizeof calls_name, "%s/%d.calls", words[1], rank);
  snprintf(stream_name, sizeof stream_name, "%s/%d.stream", words[1], rank);
  records = atoll(words[2]);
  if (!strcmp(how, "read")) {
    read_calls();
    MPI_Finalize();
    return 0;
  }
  descriptor = open(calls_name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(how, "within")) {
    write_within();
  } else if (!strcmp(how, "jumps")) {
    write_jumping();
  } else if (!strcmp(how, "full") || !strcmp(how, "limit")) {
    fill_up(!strcmp(how, "limit"));
  } else {
    const long long before = calls_of_kernel();
    write_calls();
    printf("calls %lld\n", calls_of_kernel() - before);
    stream = fopen(stream_name, "w");
    write_stream();
    printf("told %lld\n", told);
    fflush(stdout);
    end(allowed(how), words);
  }
  MPI_Finalize();
  return 0;
}
