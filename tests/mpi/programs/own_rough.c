/* A program that is rough with its own files, while they may have buffers: own_rough DIRECTORY
 * WHAT. Each WHAT prints one line, which is the same without buffers. */
#define _GNU_SOURCE
#include "own_rough.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
int descriptor;
atomic_int step_of_two;

void need(int is_so, const char* what) {
  if (is_so) return;
  perror(what);
  exit(1);
}

int made(const char* name, int flags) {
  const int found = open(name, O_CREAT | O_TRUNC | flags, 0600);
  need(found >= 0, name);
  return found;
}

void put(int to, const char* text) {
  need(write(to, text, strlen(text)) == (ssize_t)strlen(text), "write");
}

/* By a stream, so that no descriptor of the program leads to it. */
static void show(const char* name) {
  char text[256] = "";
  FILE* file = fopen(name, "r");
  need(file != NULL, name);
  const size_t bytes = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  for (size_t i = 0; i < bytes; ++i) putchar(text[i] == '\n' ? ' ' : text[i]);
  printf("|");
}

/* Cancellation. */

static void* end_cancelled(void* copies) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  descriptor = made("a", O_WRONLY);
  put(descriptor, "x");
  step_of_two = 1;
  while (step_of_two != 2) sched_yield();
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  if (copies != NULL) {
    dup(descriptor);
  } else {
    close(descriptor);
  }
  return NULL;
}

static void* write_until_cancelled(void* unused) {
  (void)unused;
  descriptor = made("a", O_WRONLY);
  step_of_two = 1;
  while (pwrite(descriptor, "x", 1, 0) == 1) step_of_two = 1;
  return NULL;
}

static void cancel(void* (*body)(void*), void* word) {
  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, body, word);
  while (step_of_two != 1) sched_yield();
  pthread_cancel(thread);
  step_of_two = 2;
  pthread_join(thread, &result);
  printf("%s", result == PTHREAD_CANCELED ? "cancelled" : "returned");
}

static void cancel_close(void) {
  cancel(&end_cancelled, NULL);
}
static void cancel_copy(void) {
  cancel(&end_cancelled, "");
}
static void cancel_write(void) {
  cancel(&write_until_cancelled, NULL);
}

/* Other processes and names. */

static void spawn(void) {
  char* words[] = {"echo", "child", NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  descriptor = made("a", O_WRONLY | O_CLOEXEC);
  put(descriptor, "header\n");
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, descriptor, 1);
  unsetenv("LD_PRELOAD");
  need(posix_spawn(&child, "/bin/echo", &actions, NULL, words, environ) == 0, "posix_spawn");
  waitpid(child, NULL, 0);
  put(descriptor, "tail\n");
  close(descriptor);
  show("a");
}

static void send_it(void) {
  int pair[2];
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {{0}};
  struct iovec part = {"x", 1};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &part,
                                        .msg_iovlen = 1,
                                        .msg_control = &control,
                                        .msg_controllen = sizeof control}};
  need(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "socketpair");
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    part.iov_base = &byte;
    need(recvmsg(pair[1], &message.msg_hdr, 0) == 1, "recvmsg");
    put(*(int*)CMSG_DATA(CMSG_FIRSTHDR(&message.msg_hdr)), "child\n");
    _exit(0);
  }
  descriptor = made("a", O_RDWR);
  put(descriptor, "header\n");
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
  need(sendmmsg(pair[0], &message, 1, 0) == 1, "sendmmsg");
  waitpid(child, NULL, 0);
  put(descriptor, "tail\n");
  close(descriptor);
  show("a");
}

static int see(const char* name, const struct stat* status, int kind, struct FTW* where) {
  (void)kind, (void)where;
  if (strcmp(name, "./a") == 0) printf("%ld", (long)status->st_size);
  return 0;
}

static void walk(void) {
  put(made("a", O_WRONLY), "12345");
  need(nftw(".", &see, 8, 0) == 0, "nftw");
}

static void map_before(void) {
  char text[4] = "";
  descriptor = made("a", O_RDWR);
  need(ftruncate(descriptor, 4096) == 0, "ftruncate");
  char* map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  need(map != MAP_FAILED, "mmap");
  close(descriptor);
  descriptor = open("a", O_RDWR);
  need(pwrite(descriptor, "hello", 5, 0) == 5, "pwrite");
  printf("%.5s ", map);
  need(read(descriptor, text, 3) == 3 && read(descriptor, text, 3) == 3, "read");
  memcpy(map + 6, "new", 3);
  need(read(descriptor, text, 3) == 3, "read");
  printf("%.3s", text);
}

static void vectors(void) {
  char text[2] = "ab";
  const struct iovec parts[2] = {{text, (size_t)-1}, {text, 2}};
  const ssize_t done = writev(made("a", O_WRONLY), parts, 2);
  printf("%zd %s", done, errno == EINVAL ? "invalid" : strerror(errno));
}

/* The C library writes by itself. */
static void trace_back(void) {
  char text[4000];
  void* addresses[8];
  descriptor = made("a", O_RDWR);
  put(descriptor, "header ");
  backtrace_symbols_fd(addresses, backtrace(addresses, 8), descriptor);
  put(descriptor, "tail");
  const ssize_t bytes = pread(descriptor, text, sizeof text, 0);
  need(bytes > 20, "pread");
  printf("%.7s%.4s", text, text + bytes - 4);
}

/* Streams. */

static void vfork_stream(void) {
  FILE* stream = fopen("a", "w");
  fputs("held back", stream);
  const int number = fileno(stream);
  const pid_t child = vfork();
  if (child == 0) {
    close(number);
    open("b", O_WRONLY | O_CREAT, 0600);
    execl("/bin/true", "true", (char*)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  fclose(stream);
  show("a");
  show("b");
}

static void switch_handles(void) {
  FILE* stream = fopen("a", "w");
  fputs("A", stream);
  fflush(stream);
  put(fileno(stream), "B");
  fputs("C", stream);
  fflush(NULL);
  printf("%ld ", ftell(stream));
  put(fileno(stream), "D");
  fseek(stream, 0, SEEK_CUR);
  fputs("E", stream);
  fclose(stream);
  show("a");
}

static void keep_end(void) {
  FILE* stream = fopen("a", "w+");
  fputs("abc", stream);
  rewind(stream);
  while (getc(stream) != EOF) {
  }
  fflush(stream);
  printf("%d", feof(stream) != 0);
}

static void append(void) {
  FILE* stream = fopen("a", "w");
  fcntl(fileno(stream), F_SETFL, O_APPEND);
  fputs("once", stream);
  execl("/none", "none", (char*)NULL);
  fclose(stream);
  show("a");
}

/* By an address that was there before MPI_Init; its memory is another's afterwards. */
static int (*volatile kept_fclose)(FILE*);

static void close_unseen(void) {
  FILE* stream = fopen("a", "w");
  fputs("abc", stream);
  kept_fclose(stream);
  for (int i = 0; i < 2000; ++i) memset(malloc(472), 0x41, 472);
  printf("unseen\n");
  fflush(stdout);
  MPI_Finalize();
  _exit(0);
}

static const struct {
  const char* name;
  void (*run)(void);
} ways[] = {{"cancel-close", &cancel_close},
            {"cancel-copy", &cancel_copy},
            {"cancel-write", &cancel_write},
            {"spawn", &spawn},
            {"send", &send_it},
            {"walk", &walk},
            {"map", &map_before},
            {"vectors", &vectors},
            {"backtrace", &trace_back},
            {"vfork", &vfork_stream},
            {"handles", &switch_handles},
            {"end", &keep_end},
            {"append", &append},
            {"unseen", &close_unseen},
            {"stopped", &stopped_thread},
            {"reopened", &reopened},
            {"truncated", &truncated},
            {"stack", &other_stack},
            {"jumps", &jumps}};

int main(int argc, char** argv) {
  kept_fclose = &fclose;
  MPI_Init(&argc, &argv);
  need(argc == 3 && chdir(argv[1]) == 0, "chdir");
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    if (strcmp(argv[2], ways[i].name) == 0) ways[i].run();
  }
  printf("\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
