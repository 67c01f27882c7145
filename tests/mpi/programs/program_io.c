/* Uses files without MPI, each in a known way, and says what it did: name, layer, opens, reads,
   writes, bytes read, bytes written, seeks. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;
static char directory[4096];
static FILE* tally;
static char buffer[1 << 20];

static const char* path(const char* name) {
  static char text[8192];
  snprintf(text, sizeof text, "%s/%s", directory, name);
  return text;
}

static void told(const char* name, const char* layer, int opens, int reads, int writes, long read,
                 long written, int seeks) {
  fprintf(tally, "%s %s %d %d %d %ld %ld %d\n", path(name), layer, opens, reads, writes, read,
          written, seeks);
}

static void must(int is_true, const char* what) {
  if (is_true) return;
  printf("%s failed: %s\n", what, strerror(errno));
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void plain(void) {
  int file = open(path("plain"), O_CREAT | O_RDWR | O_TRUNC, 0600);
  must(file >= 0, "open");
  for (int i = 0; i < 10; ++i) must(write(file, buffer, 100) == 100, "write");
  must(write(file, buffer, 5000) == 5000, "write");
  must(pwrite(file, buffer, 8192, 1 << 20) == 8192, "pwrite");
  must(lseek(file, 0, SEEK_SET) == 0, "lseek");
  must(read(file, buffer, 2000) == 2000, "read");
  must(read(file, buffer, 2000) == 2000, "read");
  must(pread(file, buffer, 4096, 4096) == 4096, "pread");
  must(fsync(file) == 0, "fsync");
  must(close(file) == 0, "close");
  told("plain", "posix", 1, 3, 12, 2000 + 2000 + 4096, 1000 + 5000 + 8192, 1);
}

static void vectors(void) {
  struct iovec parts[2] = {{buffer, 1000}, {buffer + 1000, 24}};
  int file = openat(AT_FDCWD, path("vectors"), O_CREAT | O_RDWR | O_TRUNC, 0600);
  must(writev(file, parts, 2) == 1024, "writev");
  must(pwritev(file, parts, 2, 4096) == 1024, "pwritev");
  must(pwritev2(file, parts, 2, 8192, 0) == 1024, "pwritev2");
  must(preadv(file, parts, 2, 0) == 1024, "preadv");
  must(preadv2(file, parts, 2, -1, 0) == 1024, "preadv2");
  must(readv(file, parts, 2) == 1024, "readv");
  must(close(file) == 0, "close");
  told("vectors", "posix", 1, 3, 3, 3 * 1024, 3 * 1024, 0);
}

static void descriptors(void) {
  int file = creat(path("shared"), 0600);
  int copy = dup(file);
  int other = dup2(file, 200);
  int third = fcntl(file, F_DUPFD, 300);
  must(write(file, buffer, 10) == 10 && write(copy, buffer, 20) == 20, "write");
  must(close(file) == 0, "close");
  must(write(other, buffer, 30) == 30 && write(third, buffer, 40) == 40, "write");
  must(close(copy) == 0 && close(other) == 0 && close(third) == 0, "close");
  must(close(third) == -1 && errno == EBADF, "a second close");
  told("shared", "posix", 1, 0, 4, 0, 100, 0);
  file = open(path("appended"), O_CREAT | O_WRONLY | O_APPEND, 0600);
  for (int i = 0; i < 3; ++i) must(write(file, buffer, 7) == 7, "write");
  close(file);
  file = open(path("appended"), O_WRONLY | O_APPEND);
  must(write(file, buffer, 7) == 7, "write");
  close(file);
  told("appended", "posix", 2, 0, 4, 0, 28, 0);
}

static void moved(void) {
  int from = open(path("from"), O_CREAT | O_RDWR | O_TRUNC, 0600);
  int to = open(path("to"), O_CREAT | O_RDWR | O_TRUNC, 0600);
  must(write(from, buffer, 50000) == 50000, "write");
  off_t offset = 10000;
  must(sendfile(to, from, &offset, 5000) == 5000, "sendfile");
  off64_t begin = 0;
  must(copy_file_range(from, &begin, to, NULL, 3000, 0) == 3000, "copy_file_range");
  must(ftruncate(to, 4000) == 0, "ftruncate");
  void* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, from, 0);
  must(memory != MAP_FAILED && munmap(memory, 4096) == 0, "mmap");
  close(from);
  close(to);
  told("from", "posix", 1, 2, 1, 8000, 50000, 0);
  told("to", "posix", 1, 0, 2, 0, 8000, 0);
}

static void asynchronous(void) {
  int file = open(path("asynchronous"), O_CREAT | O_RDWR | O_TRUNC, 0600);
  struct aiocb request = {.aio_fildes = file, .aio_buf = buffer, .aio_nbytes = 3000};
  const struct aiocb* list[1] = {&request};
  must(aio_write(&request) == 0, "aio_write");
  while (aio_error(&request) == EINPROGRESS) aio_suspend(list, 1, NULL);
  must(aio_return(&request) == 3000, "aio_return");
  must(aio_read(&request) == 0, "aio_read");
  while (aio_error(&request) == EINPROGRESS) aio_suspend(list, 1, NULL);
  must(aio_return(&request) == 3000, "aio_return");
  close(file);
  told("asynchronous", "posix", 1, 1, 1, 3000, 3000, 0);
}

static void streams(void) {
  FILE* file = fopen(path("stream"), "w+");
  must(file != NULL, "fopen");
  must(fwrite(buffer, 8, 100, file) == 100, "fwrite");
  must(fputs("a line\n", file) >= 0, "fputs");
  must(fprintf(file, "%d and %s\n", 12345, "more") == 15, "fprintf");
  must(fseek(file, 0, SEEK_SET) == 0, "fseek");
  must(fread(buffer, 1, 800, file) == 800, "fread");
  char line[100];
  must(fgets(line, sizeof line, file) != NULL && strlen(line) == 7, "fgets");
  must(fclose(file) == 0, "fclose");
  told("stream", "stdio", 1, 2, 3, 807, 822, 1);
  file = fopen(path("characters"), "w");
  for (int i = 0; i < 1000; ++i) putc('x', file);
  must(fclose(file) == 0, "fclose");
  file = fopen(path("characters"), "r");
  int count = 0;
  while (getc(file) != EOF) ++count;
  must(count == 1000 && fclose(file) == 0, "getc");
  told("characters", "stdio", 2, 0, 0, 1000, 1000, 0);
}

static int handler_file;

static void handle(int number) {
  (void)number;
  if (write(handler_file, buffer, 1) != 1) abort();
}

static void* write_much(void* file) {
  for (int i = 0; i < 2000; ++i) {
    if (pwrite(*(int*)file, buffer, 16, 16 * i) != 16) abort();
  }
  return NULL;
}

static void threads_and_handlers(void) {
  handler_file = open(path("handler"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  signal(SIGUSR1, &handle);
  for (int i = 0; i < 100; ++i) raise(SIGUSR1);
  close(handler_file);
  told("handler", "posix", 1, 0, 100, 0, 100, 0);
  int file = open(path("threads"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, &write_much, &file);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  close(file);
  told("threads", "posix", 1, 0, 8000, 0, 4 * 2000 * 16, 0);
}

/* Neither a child's calls count, nor what it does to descriptors. */
static void children(void) {
  int file = open(path("child"), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0600);
  must(write(file, buffer, 100) == 100, "write");
  pid_t child = fork();
  if (child == 0) {
    if (write(file, buffer, 1000) != 1000) _exit(1);
    close(file);
    _exit(0);
  }
  int status = 1;
  must(waitpid(child, &status, 0) == child && status == 0, "a forked child");
  must(write(file, buffer, 100) == 100, "write");
  close(file);
  told("child", "posix", 1, 0, 2, 0, 200, 0);
}

pid_t __vfork(void);

static int kept;

/* The lowest number that is free is that of the file that was closed. */
static int replace(void* name) {
  close(kept);
  _exit(open(name, O_WRONLY) == kept ? 0 : 1);
}

/* Each rank in another way. */
static pid_t start_in_this_memory(char* other) {
  static char stack[1 << 16];
  if (rank % 3 == 2) {
    return clone(&replace, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, other);
  }
  pid_t child = rank % 3 == 0 ? vfork() : __vfork();
  if (child == 0) replace(other);
  return child;
}

/* A child that shares the memory has descriptors of its own. Often, as Headrace looks at a
   descriptor again after a millisecond. */
static void children_in_this_memory(void) {
  enum { kTimes = 20 };
  for (int i = 0; i < kTimes; ++i) {
    char name[8192];
    snprintf(name, sizeof name, "%s", path("other"));
    close(open(name, O_CREAT | O_WRONLY, 0600));
    kept = open(path("kept"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    int status = 1;
    pid_t child = start_in_this_memory(name);
    must(child > 0 && write(kept, buffer, 100) == 100, "write");
    must(waitpid(child, &status, 0) == child && status == 0, "a child that opens another file");
    close(kept);
  }
  told("kept", "posix", kTimes, 0, kTimes, 0, kTimes * 100, 0);
  told("other", "posix", kTimes, 0, 0, 0, 0, 0);
}

/* Descriptors that are closed, and opened again, past the C library. */
static void behind(void) {
  int file = open(path("before"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  must(write(file, buffer, 11) == 11, "write");
  syscall(SYS_close, file);
  int raw = (int)syscall(SYS_openat, AT_FDCWD, path("behind"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  must(raw == file, "openat");
  usleep(20000);
  must(write(file, buffer, 13) == 13, "write");
  close(file);
  told("before", "posix", 1, 0, 1, 0, 11, 0);
  told("behind", "posix", 0, 0, 1, 0, 13, 0);
  int pipes[2];
  must(pipe(pipes) == 0, "pipe");
  must(write(pipes[1], buffer, 17) == 17 && read(pipes[0], buffer, 17) == 17, "a pipe");
  close(pipes[0]);
  close(pipes[1]);
}

/* What one call closes, also far behind the last one that is open. */
static void ranges(void) {
  int file = open(path("range"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (int i = 0; i < 20; ++i) must(dup2(file, 400 + i) == 400 + i, "dup2");
  must(write(410, buffer, 10) == 10, "write");
  must(close_range(401, ~0U, 0) == 0, "close_range");
  must(write(401, buffer, 10) == -1 && errno == EBADF, "a closed descriptor");
  must(write(400, buffer, 10) == 10 && close(400) == 0 && close(file) == 0, "write");
  told("range", "posix", 1, 0, 2, 0, 20, 0);
}

static void rough(void) {
  char name[4096];
  memset(name, 'n', sizeof name);
  for (size_t i = 20; i < sizeof name; i += 20) name[i] = '\n';
  name[sizeof name - 1] = '\0';
  must(open(name, O_RDONLY) == -1 && errno == ENAMETOOLONG, "a long name");
  name[200] = '\0';
  char whole[8192];
  snprintf(whole, sizeof whole, "%s/%s", directory, name);
  int file = open(whole, O_CREAT | O_RDWR, 0600);
  must(file >= 0, "a name of lines");
  must(unlink(whole) == 0, "unlink");
  must(write(file, buffer, 19) == 19, "a file without a name");
  usleep(20000);
  must(write(file, buffer, 19) == 19, "a file without a name");
  close(file);
  must(open(NULL, O_RDONLY) == -1 && errno == EFAULT, "no name");
  must(read(-1, buffer, 1) == -1 && errno == EBADF, "no descriptor");
  must(close(-1) == -1 && errno == EBADF, "no descriptor");
  errno = 4711;
  file = open(path("quiet"), O_CREAT | O_RDWR, 0600);
  must(write(file, buffer, 1) == 1 && close(file) == 0 && errno == 4711, "errno");
  told("quiet", "posix", 1, 0, 1, 0, 1, 0);
}

static void many(int count) {
  char name[100];
  for (int i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "many/%d", i);
    int file = open(path(name), O_CREAT | O_WRONLY, 0600);
    must(file >= 0 && write(file, buffer, 10) == 10 && close(file) == 0, name);
    unlink(path(name));
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(directory, sizeof directory, "%s/rank-%d", words[1], rank);
  char name[8192];
  snprintf(name, sizeof name, "%s/tally.%d", words[1], rank);
  tally = fopen(name, "w");
  if (count > 2) {
    many(atoi(words[2]));
  } else {
    plain();
    vectors();
    descriptors();
    moved();
    asynchronous();
    streams();
    threads_and_handlers();
    children();
    children_in_this_memory();
    behind();
    ranges();
    rough();
  }
  fclose(tally);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
