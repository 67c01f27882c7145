// Files of the program's own, by calls drawn at random, that buffers may hold back
// (HEADRACE_IOBUF). It knows what each call must answer by a model of the files in memory, so the
// answers are checked where they come.
//
//   own_buffers DIRECTORY SEED CALLS
//
// Prints "wrong N", and the first answers that were. Files are named by the rank.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_model.h"

static void expect_file(const char* what) {
  const int other = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
  const long long got = syscall(SYS_read, other, found, room);
  syscall(SYS_close, other);
  expect(got == size && memcmp(found, model, size) == 0, what);
}

/// What is held back counts for who asks by name, too.
static void check_by_name(void) {
  struct stat status;
  expect(stat(name, &status) == 0 && status.st_size == size, "size by name");
}

static void open_file(void) {
  static const int ways[] = {O_WRONLY, O_RDWR, O_RDONLY};
  const int way = draw(3);
  int flags = ways[way];
  if (way < 2 && draw(3) == 0) flags |= O_CREAT | O_TRUNC;
  if (draw(2)) flags |= O_CLOEXEC;
  descriptor = draw(2) ? open(name, flags, 0600) : openat(AT_FDCWD, name, flags, 0600);
  expect(descriptor >= 0, "open");
  if (flags & O_TRUNC) size = 0;
  position = 0;
  reads = way != 0;
  writes = way != 2;
}

static void close_file(void) {
  expect(close(descriptor) == 0, "close");
  descriptor = -1;
  // By a system call, which no stand-in sees: all must be there.
  expect_file("after close");
}

static void do_write(void) {
  const long long bytes = draw_bytes();
  if (position + bytes > room) return;
  const unsigned char* const data = new_data(bytes);
  const long long done = write(descriptor, data, bytes);
  expect(writes ? done == bytes : done == -1 && errno == EBADF, "write");
  if (!writes) return;
  put(position, data, bytes);
  position += bytes;
}

static void do_writev(void) {
  const long long bytes = draw_bytes();
  if (!writes || position + bytes > room) return;
  unsigned char* const data = new_data(bytes);
  const long long first = bytes / 3;
  const struct iovec parts[3] = {{data, first}, {data, 0}, {data + first, bytes - first}};
  expect(writev(descriptor, parts, 3) == bytes, "writev");
  put(position, data, bytes);
  position += bytes;
}

static void do_pwrite(void) {
  const long long bytes = draw_bytes(), at = draw(3) ? position : draw(200000);
  if (!writes || at + bytes > room) return;
  const unsigned char* const data = new_data(bytes);
  expect(pwrite(descriptor, data, bytes, at) == bytes, "pwrite");
  put(at, data, bytes);
}

static long long expected_bytes(long long at, long long bytes) {
  return at >= size ? 0 : at + bytes > size ? size - at : bytes;
}

static void do_read(void) {
  const long long bytes = draw_bytes(), most = expected_bytes(position, bytes);
  const long long done = read(descriptor, found, bytes);
  if (!reads) {
    expect(done == -1 && errno == EBADF, "read of what is not readable");
    return;
  }
  expect(done == most && memcmp(found, model + position, most) == 0, "read");
  position += most;
}

static void do_pread(void) {
  const long long bytes = draw_bytes(), at = draw(3) ? position : draw(100000);
  if (!reads) return;
  const long long most = expected_bytes(at, bytes);
  const long long done = draw(4) ? pread(descriptor, found, bytes, at) : ({
    const struct iovec part = {found, bytes};
    preadv(descriptor, &part, 1, at);
  });
  expect(done == most && memcmp(found, model + at, most) == 0, "pread");
}

static void do_seek(void) {
  const unsigned kind = draw(6);
  long long answer = 0, right = 0;
  if (kind < 2) {
    right = draw(size + 1000);
    answer = lseek(descriptor, right, SEEK_SET);
  } else if (kind == 2) {
    right = size;
    answer = lseek(descriptor, 0, SEEK_END);
  } else if (kind == 3) {
    right = position;
    answer = lseek(descriptor, -5, SEEK_SET);
    expect(answer == -1 && errno == EINVAL, "lseek before the file");
    return;
  } else {
    const long long move = draw(50);
    right = position + move;
    answer = lseek(descriptor, move, SEEK_CUR);
  }
  expect(answer == right, "lseek");
  position = right;
}

static void do_size(void) {
  struct stat status;
  struct statx more;
  const char* volatile none = NULL; /* a question whether the kernel has the call */
  switch (draw(4)) {
    case 3: expect(statx(0, none, 0, 0, NULL) == -1 && errno == EFAULT, "statx of nothing"); break;
    case 0: expect(fstat(descriptor, &status) == 0 && status.st_size == size, "fstat"); break;
    case 1:
      expect(statx(descriptor, "", AT_EMPTY_PATH, STATX_SIZE, &more) == 0 &&
                 (long long)more.stx_size == size,
             "statx");
      break;
    default: check_by_name();
  }
}

static void do_truncate(void) {
  if (!writes) return;
  const long long now = draw(3) ? size : draw(size + 2000);
  if (now > room) return;
  expect((draw(2) ? ftruncate(descriptor, now) : truncate(name, now)) == 0, "truncate");
  if (now > size) memset(model + size, 0, now - size);
  size = now;
}

static void do_sync(void) {
  expect((draw(2) ? fsync(descriptor) : fdatasync(descriptor)) == 0, "fsync");
  if (draw(2)) expect_file("after fsync");
}

static void do_dup(void) {
  const int copy = draw(2) ? dup(descriptor) : fcntl(descriptor, F_DUPFD, 10);
  expect(copy >= 0, "dup");
  const unsigned char* const data = new_data(10);
  if (writes && position + 10 <= room) {
    expect(write(copy, data, 10) == 10, "write by a copy");
    put(position, data, 10);
    position += 10;
  }
  expect(lseek(copy, 0, SEEK_CUR) == position, "position of a copy");
  expect(close(draw(2) ? descriptor : copy) == 0, "close of one of two");
  if (fcntl(descriptor, F_GETFD) == -1) descriptor = copy;
}

static void do_dup_over(void) {
  const int other = open("/dev/null", O_RDWR);
  expect(dup2(other, descriptor) == descriptor, "dup2 over it");
  close(other);
  expect_file("after dup2 over it");
  expect(close(descriptor) == 0, "close behind dup2");
  descriptor = -1;
}

static void do_second_open(void) {
  const int other = open(name, O_RDONLY);
  const long long got = read(other, found, room);
  expect(got == size && memcmp(found, model, size) == 0, "read by a second open");
  if (writes && position + 4 <= room) {
    const unsigned char* const data = new_data(4);
    expect(write(descriptor, data, 4) == 4, "write beside a second open");
    put(position, data, 4);
    expect(pread(other, found, 4, position) == 4 && memcmp(found, data, 4) == 0, "seen at once");
    position += 4;
  }
  close(other);
}

static void do_stream(void) {
  char line[100];
  FILE* const stream = fdopen(dup(descriptor), reads ? writes ? "r+" : "r" : "w");
  expect(stream != NULL, "fdopen");
  if (writes && position + 100 <= room) {
    const int bytes = fprintf(stream, "%.50f\n", (double)call_number);
    snprintf(line, sizeof line, "%.50f\n", (double)call_number);
    expect(fflush(stream) == 0, "fflush");
    put(position, (unsigned char*)line, bytes);
    position += bytes;
  }
  fclose(stream);
  expect(lseek(descriptor, 0, SEEK_CUR) == position, "position behind a stream");
}

static void do_fork(void) {
  const unsigned char* const data = new_data(20);
  const int by_vfork = draw(4) == 0;
  const int fits = writes && position + 20 <= room;
  int status = 0;
  if (by_vfork) {
    const pid_t child = vfork();
    if (child == 0) _exit(fits ? write(descriptor, data, 20) != 20 : 0);
    waitpid(child, &status, 0);
  } else {
    const pid_t child = fork();
    if (child == 0) _exit(fits ? write(descriptor, data, 20) != 20 : 0);
    waitpid(child, &status, 0);
  }
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child");
  if (!fits) return;
  put(position, data, 20);
  position += 20;
  expect(lseek(descriptor, 0, SEEK_CUR) == position, "position behind a child");
}

static void do_command(void) {
  char line[4200];
  snprintf(line, sizeof line, "test $(wc -c < '%s') = %lld", name, size);
  expect(system(line) == 0, "size seen by a command");
}

static void do_map(void) {
  if (!reads || size == 0) return;
  unsigned char* const memory = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
  expect(memory != MAP_FAILED && memcmp(memory, model, size) == 0, "mmap");
  if (memory != MAP_FAILED) munmap(memory, size);
}

static void do_send(void) {
  if (!reads) return;
  const int to = open("/dev/null", O_WRONLY);
  const long long most = expected_bytes(position, 500);
  expect(sendfile(to, descriptor, NULL, 500) == most, "sendfile");
  position += most;
  close(to);
}

static void do_change(void) {
  switch (draw(4)) {
    case 0:
      expect((fcntl(descriptor, F_GETFL) & O_ACCMODE) ==
                 (reads ? writes ? O_RDWR : O_RDONLY : O_WRONLY),
             "F_GETFL");
      break;
    case 1: expect(fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, "F_SETFD"); break;
    case 2: {
      struct flock lock = {.l_type = writes ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
      expect(fcntl(descriptor, F_SETLK, &lock) == 0, "F_SETLK");
      break;
    }
    default:
      expect(posix_fallocate(descriptor, 0, 1) == (writes ? 0 : EBADF), "posix_fallocate");
      if (writes && size == 0) put(0, (const unsigned char*)"", 1);
  }
}

static void do_raw(void) {
  if (!writes || position + 7 > room) return;
  const unsigned char* const data = new_data(7);
  expect(syscall(SYS_write, descriptor, data, 7) == 7, "write by syscall");
  put(position, data, 7);
  position += 7;
}

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

/// Each its own records, at their places: no order among threads changes the file.
static void* thread_writes(void* own) {
  const long long number = *(long long*)own;
  unsigned char record[64];
  for (long long i = number; i < 400; i += 4) {
    memset(record, (int)(1 + i % 250), sizeof record);
    const int done = pwrite(descriptor, record, sizeof record, i * 64) == sizeof record;
    pthread_mutex_lock(&taken);
    expect(done, "pwrite by a thread");
    pthread_mutex_unlock(&taken);
  }
  return NULL;
}

static void do_threads(void) {
  if (!writes) return;
  pthread_t threads[4];
  long long numbers[4] = {0, 1, 2, 3};
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, thread_writes, &numbers[i]);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  unsigned char record[64];
  for (long long i = 0; i < 400; ++i) {
    memset(record, (int)(1 + i % 250), sizeof record);
    put(i * 64, record, sizeof record);
  }
}

/// All by one position: nothing is lost, and nothing comes twice.
static void* thread_appends(void* own) {
  unsigned char record[8];
  memset(record, *(int*)own, sizeof record);
  for (int i = 0; i < 300; ++i) {
    if (write(descriptor, record, sizeof record) != sizeof record) return own;
  }
  return NULL;
}

static void do_shared_position(void) {
  if (!writes || position + 4 * 300 * 8 > room) return;
  pthread_t threads[4];
  int numbers[4] = {1, 2, 3, 4}, counts[5] = {0};
  void* failed = NULL;
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, thread_appends, &numbers[i]);
  for (int i = 0; i < 4; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    if (result != NULL) failed = result;
  }
  expect(failed == NULL, "write by threads");
  const long long bytes = 4 * 300 * 8;
  expect(fsync(descriptor) == 0, "fsync behind threads");
  const int other = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
  expect(syscall(SYS_pread64, other, found, bytes, position) == bytes, "size behind threads");
  syscall(SYS_close, other);
  for (long long i = 0; i < bytes; i += 8) {
    if (found[i] >= 1 && found[i] <= 4 && memcmp(found + i, found + i + 1, 7) == 0)
      counts[found[i]] += 1;
  }
  for (int i = 1; i <= 4; ++i) expect(counts[i] == 300, "records of a thread");
  put(position, found, bytes);
  position += bytes;
  expect(lseek(descriptor, 0, SEEK_CUR) == position, "position behind threads");
}

static void one_call(void) {
  static const struct {
    void (*call)(void);
    unsigned weight;
  } calls[] = {{do_write, 300},        {do_writev, 60}, {do_pwrite, 60},  {do_read, 200},
               {do_pread, 60},         {do_seek, 60},   {do_size, 20},    {do_truncate, 10},
               {do_sync, 10},          {do_dup, 3},     {do_dup_over, 2}, {do_second_open, 3},
               {do_stream, 3},         {do_fork, 2},    {do_command, 1},  {do_map, 3},
               {do_send, 3},           {do_change, 8},  {do_raw, 3},      {do_threads, 1},
               {do_shared_position, 1}};
  const unsigned count = sizeof calls / sizeof *calls;
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += calls[i].weight;
  unsigned at = draw(sum), i = 0;
  while (at >= calls[i].weight) at -= calls[i++].weight;
  calls[i].call();
}

int main(int words, char** word) {
  int rank = 0;
  MPI_Init(&words, &word);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s/own-%d", word[1], rank);
  state = strtoull(word[2], NULL, 10) * 1000 + rank;
  const long long calls = strtoll(word[3], NULL, 10);
  const int made = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
  expect(made >= 0 && close(made) == 0, "make");
  while (call_number < calls) {
    open_file();
    for (unsigned i = draw(most_calls_of_a_file); i > 0 && descriptor >= 0; --i) {
      ++call_number;
      one_call();
    }
    if (descriptor >= 0) close_file();
  }
  MPI_Finalize();
  printf("wrong %lld\n", wrong);
  return 0;
}
