/* What programs do with handles and errors that a recorder must leave as it is.
 *
 *     recorded_handles reused     a communicator gets the handle of one that was of another size
 *     recorded_handles late       the last calls come when the program ends
 *     recorded_handles null       the name of MPI_COMM_NULL
 *     recorded_handles errors|old-errors DIRECTORY [without-waitall]
 *                                 MPI_Waitall and its like, without statuses, after an error
 *     recorded_handles handler DIRECTORY [without-waitall]
 *                                 the same with an error handler of the program
 *     recorded_handles pending    an MPI_Waitall that Open MPI ends by an error, before a message
 *     recorded_handles own-wait   a request that MPICH brings on in its own MPI_Waitall alone
 *     recorded_handles taken-back an error handler that is not in force any more
 *     recorded_handles threads    threads receive at once; rank 0 prints the bytes
 *     recorded_handles handed    a thread completes what another one receives; prints the bytes
 *     recorded_handles files DIRECTORY    more files than are kept, then calls from many places
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "removed.h"

static int rank;

static void need(int is_so, const char* what) {
  if (is_so) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int asks_its_size(MPI_Comm comm, int key, void* value, void* state) {
  int size;
  (void)key, (void)value, (void)state;
  return MPI_Comm_size(comm, &size);
}

/* One count at the end of a page, behind which nothing may be read. */
static int* only_count(void) {
  const long page = sysconf(_SC_PAGESIZE);
  char* const memory =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0, "no memory");
  int* const count = (int*)(memory + page) - 1;
  *count = 1;
  return count;
}

static void reuse(void) {
  const int* const count = only_count();
  int key, in = 1, out, number;
  MPI_Comm wide, narrow;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, asks_its_size, &key, NULL);
  for (int i = 0; i < 20; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &wide);
    if (i % 2 == 0) MPI_Comm_set_attr(wide, key, &key);
    MPI_Barrier(wide);
    MPI_Comm_free(&wide);
    MPI_Comm_dup(MPI_COMM_SELF, &narrow);
    MPI_Reduce_scatter(&in, &out, count, MPI_INT, MPI_SUM, narrow);
    need(out == in, "a wrong sum");
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &number, 1, MPI_INT, 0, 0, narrow, MPI_STATUS_IGNORE);
    MPI_Comm_free(&narrow);
  }
}

enum { kComms = 12, kBlocks = 240, kWords = 18 };
static MPI_Comm comms[kComms];

/* Blocks of the sizes that a recorder may have had memory of; nobody else writes into them. */
static void end_late(void) {
  static long* blocks[kBlocks];
  int own;
  for (int i = 0; i < kBlocks; i++) {
    MPI_Comm_rank(comms[i % kComms], &own);
    MPI_Comm_size(comms[(i + 4) % kComms], &own);
    blocks[i] = malloc(kWords * sizeof(long));
    for (int j = 0; j < kWords; j++) blocks[i][j] = 0x100000001;
  }
  for (int i = 0; i < kBlocks; i++) {
    for (int j = 0; j < kWords; j++) need(blocks[i][j] == 0x100000001, "memory has changed");
  }
  for (int i = 0; i < kComms; i++) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
}

/* The destructor of a key of the thread's calls MPI when the thread's variables have gone. */
static void call_late(void* value) {
  int own;
  (void)value;
  for (int i = 0; i < kComms; i++) MPI_Comm_rank(comms[i], &own);
}

static void* call_and_end(void* key) {
  int own;
  pthread_setspecific(*(pthread_key_t*)key, key);
  for (int i = 0; i < kComms; i++) MPI_Comm_size(comms[i], &own);
  return NULL;
}

static void start_late(void) {
  pthread_key_t key;
  pthread_t thread;
  pthread_key_create(&key, call_late);
  for (int i = 0; i < kComms; i++) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
  for (int i = 0; i < 100; i++) {
    need(pthread_create(&thread, NULL, call_and_end, &key) == 0, "no thread");
    pthread_join(thread, NULL);
  }
  atexit(end_late);
  exit(0);
}

static void ask_null(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
  printf("null %d\n", code == MPI_SUCCESS);
}

static int handled;
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  handled++;
}

/* Receives of which the first is too short, completed by one of the procedures. */
static void fail_in(int way) {
  char in[100], out[100] = {0};
  MPI_Request requests[3];
  int flag = 0, count = 0, places[3], code = MPI_SUCCESS, class = MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  handled = 0;
  if (rank == 1) {
    for (int i = 1; i <= 3; i++) MPI_Send(out, 40, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Irecv(in, 4, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + 10, 40, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(in + 50, 40, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[2]);
  /* Messages overtake none: the others have arrived, too. */
  MPI_Recv(in + 99, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == 0) code = MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (way == 1) {
    while (!flag && code == MPI_SUCCESS) {
      code = MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    }
  }
  if (way == 2) code = MPI_Waitsome(3, requests, &count, places, MPI_STATUSES_IGNORE);
  if (way == 3) {
    while (count == 0 && code == MPI_SUCCESS) {
      code = MPI_Testsome(3, requests, &count, places, MPI_STATUSES_IGNORE);
    }
  }
  MPI_Error_class(code, &class);
  printf("way %d: class %d, handled %d, left", way, class, handled);
  for (int i = 0; i < 3; i++) printf(" %d", requests[i] != MPI_REQUEST_NULL);
  printf("\n");
  for (int i = 0; i < 3; i++) {
    if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

/* `first`: 1 leaves out MPI_Waitall, which never returns here under Open MPI 4.1. */
static void fail(int has_handler, int is_old, int first) {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (has_handler) MPI_Comm_create_errhandler(handle, &handler);
  set_handler(MPI_COMM_WORLD, handler, is_old);
  set_handler(MPI_COMM_SELF, handler, is_old);
  for (int way = first; way < 4; way++) fail_in(way);
  /* No error: all is as ever, and the bytes are known. */
  char in[2][50], out[50] = {0};
  MPI_Request requests[3];
  for (int i = 0; i < 10 && rank < 2; i++) {
    MPI_Irecv(in[0], 50, MPI_BYTE, 1 - rank, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], 50, MPI_BYTE, 1 - rank, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 30, MPI_BYTE, 1 - rank, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(out, 20, MPI_BYTE, 1 - rank, 5, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
}

/* The first message comes only when the error of the second has been handled. */
static void handle_then_receive(void) {
  int value = 0, small = 0, large[4] = {1, 2, 3, 4}, class;
  MPI_Request requests[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    MPI_Send(large, 4, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return;
  }
  MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&small, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Error_class(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), &class);
  printf("class %d, left %d %d\n", class, requests[0] != MPI_REQUEST_NULL,
         requests[1] != MPI_REQUEST_NULL);
  value = 7;
  MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  for (int i = 0; i < 2; i++) {
    if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

static MPI_Request generalized;
static const char* directory;

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  return MPI_Status_set_cancelled(status, 0);
}

static int end_of(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int cancel(void* state, int is_complete) {
  (void)state, (void)is_complete;
  return MPI_SUCCESS;
}

/* MPICH calls this where it waits itself. Only then does rank 1 send. */
static int poll(void* state, MPI_Status* status) {
  static int is_done;
  char path[1000];
  (void)state, (void)status;
  if (is_done++) return MPI_SUCCESS;
  snprintf(path, sizeof path, "%s/polled", directory);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  return MPI_Grequest_complete(generalized);
}

static int wait_for_it(int count, void** states, double timeout, MPI_Status* status) {
  (void)count, (void)states, (void)timeout;
  return poll(NULL, status);
}

static void wait_for_own(void) {
  typedef int Start(int (*)(void*, MPI_Status*), int (*)(void*), int (*)(void*, int),
                    int (*)(void*, MPI_Status*), int (*)(int, void**, double, MPI_Status*), void*,
                    MPI_Request*);
  Start* const start = (Start*)dlsym(RTLD_DEFAULT, "MPIX_Grequest_start");
  int value = 9;
  char path[1000];
  MPI_Request requests[2];
  if (start == NULL) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    snprintf(path, sizeof path, "%s/polled", directory);
    while (access(path, F_OK) != 0) usleep(1000);
    MPI_Send(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    return;
  }
  MPI_Irecv(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &requests[0]);
  start(query, end_of, cancel, poll, wait_for_it, NULL, &generalized);
  requests[1] = generalized;
  const int code = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("code %d, value %d\n", code, value);
}

static void take_handler_back(void) {
  MPI_Comm own;
  MPI_Errhandler handler;
  char in[1000], out[1000] = {0};
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(own, handler);
  for (int i = 0; i < 30; i++) {
    if (i == 10) MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL);
#if defined(MPI_ERRORS_ABORT) && (!defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40100000)
    if (i == 20) MPI_Comm_set_errhandler(own, MPI_ERRORS_ABORT);
#endif
    MPI_Irecv(in, 1000, MPI_BYTE, 0, 0, own, &requests[0]);
    MPI_Isend(out, 1000, MPI_BYTE, 0, 0, own, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

enum { kThreads = 4, kReceives = 5000 };

static void* receive(void* argument) {
  const int own = (int)(long)argument, length = 100 * (own + 1);
  char* const in = malloc(length);
  char* const out = calloc(1, length);
  MPI_Request requests[2];
  int flag;
  for (int i = 0; i < kReceives; i++) {
    MPI_Irecv(in, length, MPI_BYTE, 0, own, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(out, length, MPI_BYTE, 0, own, MPI_COMM_SELF, &requests[1]);
    if (i % 4 == 0) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      continue;
    }
    for (flag = 0; i % 4 == 1 && !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  free(in);
  free(out);
  return NULL;
}

static MPI_Request handed_over;

static void* complete(void* unused) {
  MPI_Wait(&handed_over, MPI_STATUS_IGNORE);
  return unused;
}

/* One thread begins each receive, and another one completes it. */
static void hand_over(int level) {
  static char in[700], out[700];
  pthread_t other;
  MPI_Request sent;
  for (int i = 0; i < 50; i++) {
    MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 0, MPI_COMM_SELF, &handed_over);
    MPI_Isend(out, sizeof out, MPI_BYTE, 0, 0, MPI_COMM_SELF, &sent);
    if (level < MPI_THREAD_MULTIPLE) complete(NULL);
    if (level == MPI_THREAD_MULTIPLE) pthread_create(&other, NULL, complete, NULL);
    if (level == MPI_THREAD_MULTIPLE) pthread_join(other, NULL);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  printf("bytes %d\n", 50 * (int)sizeof in);
}

static void receive_at_once(int level) {
  pthread_t threads[kThreads];
  const int number = level == MPI_THREAD_MULTIPLE ? kThreads : 1;
  long bytes = 0;
  for (long i = 0; i < number; i++) {
    bytes += 100 * (i + 1) * kReceives;
    if (number == 1) receive((void*)i);
    if (number > 1) pthread_create(&threads[i], NULL, receive, (void*)i);
  }
  for (int i = 0; i < number && number > 1; i++) pthread_join(threads[i], NULL);
  printf("bytes %ld\n", bytes);
}

#define ONE MPI_Comm_rank(MPI_COMM_SELF, &own);
#define FIVE ONE ONE ONE ONE ONE
#define MANY FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE
#define CALLS (4 * 50)

static void open_files(const char* directory) {
  char* const path = malloc(strlen(directory) + 300);
  int own;
  MPI_File file;
  for (int i = 0; i < 1500; i++) {
    sprintf(path, "%s/%0200d", directory, i);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_close(&file);
  }
  free(path);
  MANY MANY MANY MANY printf("calls %d\n", CALLS);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  int level;
  MPI_Init_thread(&argc, &argv,
                  strcmp(way, "threads") == 0 || strcmp(way, "handed") == 0 ? MPI_THREAD_MULTIPLE
                                                                            : MPI_THREAD_SERIALIZED,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(way, "reused") == 0) reuse();
  if (strcmp(way, "late") == 0) start_late();
  if (strcmp(way, "null") == 0) ask_null();
  directory = argc > 2 ? argv[2] : ".";
  if (strcmp(way, "pending") == 0) handle_then_receive();
  if (strcmp(way, "own-wait") == 0) wait_for_own();
  if (strcmp(way, "taken-back") == 0) take_handler_back();
  const int first = argc > 3 && strcmp(argv[3], "without-waitall") == 0;
  if (strstr(way, "errors") != NULL) fail(0, way[0] == 'o', first);
  if (strcmp(way, "handler") == 0) fail(1, 0, first);
  if (strcmp(way, "threads") == 0) receive_at_once(level);
  if (strcmp(way, "handed") == 0) hand_over(level);
  if (strcmp(way, "files") == 0) open_files(argv[2]);
  MPI_Finalize();
  return 0;
}
