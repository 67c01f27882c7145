// What a program may do to its process beside file I/O: its children, signals, threads, mappings.
//
//   rough_process [--only CASE,...] [--skip CASE,...] DIRECTORY
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { piece = 1000, pieces = 400, bytes = piece * pieces };

/// A file whose view gives each rank every size-th piece.
static MPI_File file_in_turns(Context* context, MPI_Comm comm, const char* name) {
  MPI_File file = open_file(context, comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype type;
  MPI_Type_vector(pieces, piece, piece * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(context, MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, type, "native",
                                      MPI_INFO_NULL));
  MPI_Type_free(&type);
  return file;
}

static void check_turns(Context* context, MPI_File file, const unsigned char* written) {
  unsigned char* back = calloc(1, bytes);
  MPI_Status status;
  int count = -1;
  CHECK_OK(context, MPI_File_read_at_all(file, 0, back, bytes, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(context, count, bytes);
  CHECK(context, memcmp(back, written, bytes) == 0);
  free(back);
}

/// What a command prints, its end of line taken off.
static void output_of(const char* command, char* text, size_t capacity) {
  FILE* stream = popen(command, "r");
  size_t got = stream ? fread(text, 1, capacity - 1, stream) : 0;
  while (got > 0 && text[got - 1] == '\n') got--;
  text[got] = 0;
  if (stream) pclose(stream);
}

// vfork, system and popen, beside a call that is under way; none inherits a file.
static void children(Context* context) {
  MPI_File file = file_in_turns(context, context->comm, "data");
  unsigned char* memory = malloc(bytes);
  for (int round = 0; round < 5; round++) {
    MPI_Request request;
    fill_pattern(memory, bytes, context->rank, round);
    CHECK_OK(context, MPI_File_iwrite_at_all(file, 0, memory, bytes, MPI_BYTE, &request));
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", NULL);
      _exit(9);
    }
    int status = -1;
    CHECK_EQUAL(context, waitpid(child, &status, 0), child);
    CHECK_EQUAL(context, status, 0);
    status = system("exit 3");
    CHECK(context, WIFEXITED(status) && WEXITSTATUS(status) == 3);
    char text[4000];
    output_of("ls -l /proc/self/fd/ && echo listed", text, sizeof text);
    CHECK(context, strstr(text, "listed"));
    if (context->layered) {  // a plain library lets them
      CHECK(context, !strstr(text, context->case_name) && !strstr(text, "headrace"));
    }
    CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_turns(context, file, memory);
  }
  free(memory);
  close_file(context, &file);
}

static volatile sig_atomic_t faults_handled;
static unsigned char* volatile guarded;
static sigjmp_buf before_fault;

/// As a collector or a checkpointer that watches which pages change: lets the write happen.
static void open_guarded(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  unsigned char* at = info->si_addr;
  faults_handled++;
  if (!guarded || at < guarded || at >= guarded + (1 << 20)) _exit(77);
  mprotect((void*)((uintptr_t)at & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

static void jump_out(int number) {
  (void)number;
  siglongjmp(before_fault, 1);
}

static void set_handler(Context* context, int number, void (*simple)(int),
                        void (*full)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  if (full) {
    action.sa_sigaction = full;
  } else {
    action.sa_handler = simple;
  }
  action.sa_flags = flags | (full ? SA_SIGINFO : 0);
  CHECK_EQUAL(context, sigaction(number, &action, NULL), 0);
}

// Handlers of SIGSEGV and SIGBUS stay the program's, and go on beside calls that are under way.
static void fault_handlers(Context* context) {
  const int signals[] = {SIGSEGV, SIGBUS};
  struct sigaction before[2];
  for (int i = 0; i < 2; i++) sigaction(signals[i], NULL, &before[i]);
  for (int i = 0; i < 2; i++) set_handler(context, signals[i], jump_out, NULL, SA_NODEFER);
  MPI_File file = file_in_turns(context, context->comm, "data");
  unsigned char* memory = malloc(bytes);
  fill_pattern(memory, bytes, context->rank, 0);
  MPI_Request request;
  CHECK_OK(context, MPI_File_iwrite_at_all(file, 0, memory, bytes, MPI_BYTE, &request));
  volatile int jumped = 0;
  int* volatile nowhere = NULL;
  if (sigsetjmp(before_fault, 1) == 0) {
    *nowhere = 1;
  } else {
    jumped = 1;
  }
  CHECK(context, jumped);
  CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_turns(context, file, memory);
  close_file(context, &file);
  for (int i = 0; i < 2; i++) {
    struct sigaction now;
    sigaction(signals[i], NULL, &now);
    CHECK(context, now.sa_handler == jump_out);
    sigaction(signals[i], &before[i], NULL);
  }
  free(memory);
}

// Memory that a handler of SIGSEGV makes writable when it is written to, in every kind of call. A
// library whose thread blocks that signal kills the program; that of a system call is EFAULT.
static void guarded_memory(Context* context) {
  struct sigaction before;
  sigaction(SIGSEGV, NULL, &before);
  set_handler(context, SIGSEGV, NULL, open_guarded, 0);
  MPI_File file = file_in_turns(context, context->comm, "data");
  unsigned char* memory = malloc(bytes);
  fill_pattern(memory, bytes, context->rank, 0);
  CHECK_OK(context, MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  unsigned char* own =
      mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  guarded = own;
  MPI_Datatype gaps;  // memory in pieces, which the library copies
  MPI_Type_vector(pieces, piece, 2 * piece, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  const int methods[] = {AT_ALL, AT_ALL | NONBLOCKING, AT_ALL | SPLIT, AT, AT | NONBLOCKING};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    memset(own, 0, 1 << 20);
    mprotect(own, 1 << 20, PROT_READ);
    int code = transfer(file, 0, methods[i], 0, 0, own, 1, gaps, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
      for (int k = 0; k < pieces; k++) {
        CHECK(context, memcmp(own + 2 * k * piece, memory + k * piece, piece) == 0);
      }
    } else {
      CHECK_CLASS(context, code, MPI_ERR_IO);
    }
    mprotect(own, 1 << 20, PROT_READ | PROT_WRITE);
    MPI_Barrier(context->comm);
  }
  MPI_Type_free(&gaps);
  guarded = NULL;
  sigaction(SIGSEGV, &before, NULL);
  munmap(own, 1 << 20);
  free(memory);
  close_file(context, &file);
}

static volatile sig_atomic_t ticks;

static void tick(int number) {
  (void)number;
  ticks++;
}

// A signal every millisecond whose handler makes system calls end early, in every procedure.
static void alarms(Context* context) {
  struct sigaction before;
  sigaction(SIGALRM, NULL, &before);
  set_handler(context, SIGALRM, tick, NULL, 0);
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  enum { large = 4 << 20 };
  unsigned char* memory = malloc(large);
  unsigned char* back = malloc(large);
  ticks = 0;
  setitimer(ITIMER_REAL, &often, NULL);
  for (int round = 0; round < 3; round++) {
    MPI_File file = file_in_turns(context, context->comm, "turns");
    fill_pattern(memory, bytes, context->rank, round);
    for (int method = AT_ALL; method <= (AT_ALL | SPLIT); method += NONBLOCKING) {
      CHECK_OK(context,
               transfer(file, 1, method, 0, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    check_turns(context, file, memory);
    close_file(context, &file);
    file = open_file(context, context->comm, "blocks", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context, MPI_File_preallocate(file, (MPI_Offset)large * context->size));
    fill_pattern(memory, large, context->rank, round);
    const int methods[] = {AT, AT | NONBLOCKING, AT_ALL};
    for (int i = 0; i < 3; i++) {
      MPI_Offset offset = (MPI_Offset)large * context->rank;
      CHECK_OK(context, transfer(file, 1, methods[i], 0, offset, memory, large, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
      memset(back, 0, large);
      CHECK_OK(context,
               transfer(file, 0, methods[i], 0, offset, back, large, MPI_BYTE, MPI_STATUS_IGNORE));
      CHECK(context, memcmp(memory, back, large) == 0);
    }
    CHECK_OK(context, MPI_File_sync(file));
    MPI_Barrier(context->comm);
    CHECK_OK(context, MPI_File_set_size(file, 0));
    CHECK_OK(context, MPI_File_write_ordered(file, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_write_shared(file, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    MPI_Offset size = 0;
    CHECK_OK(context, MPI_File_get_size(file, &size));
    CHECK_EQUAL(context, size, 200 * context->size);
    MPI_Barrier(context->comm);
    close_file(context, &file);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(context, ticks > 0);
  sigaction(SIGALRM, &before, NULL);
  free(memory);
  free(back);
}

// The program maps the file while calls move its data, also from and to that very mapping.
static void mapped(Context* context) {
  const size_t all = (size_t)bytes * (size_t)context->size;
  MPI_File file = file_in_turns(context, context->comm, "data");
  CHECK_OK(context, MPI_File_set_size(file, (MPI_Offset)(2 * all)));
  int descriptor = open(path_of(context, "data"), O_RDWR);
  unsigned char* map = mmap(NULL, 2 * all, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (map == MAP_FAILED) {
    fail(context, __FILE__, __LINE__, "cannot map");
    return;
  }
  unsigned char* memory = malloc(bytes);
  fill_pattern(memory, bytes, context->rank, 5);
  CHECK_OK(context, MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  for (int i = 0; i < pieces; i++) {  // what calls wrote is in the map
    size_t at = ((size_t)i * (size_t)context->size + (size_t)context->rank) * piece;
    CHECK(context, memcmp(map + at, memory + (size_t)i * piece, piece) == 0);
    memset(map + at, i, piece);
  }
  MPI_Barrier(context->comm);
  memset(memory, 0, bytes);  // what was stored there calls read
  CHECK_OK(context, MPI_File_read_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < bytes; i++) CHECK(context, memory[i] == (unsigned char)(i / piece));
  MPI_Barrier(context->comm);
  // From the map, the second half of the file, to its first half.
  unsigned char* own = map + all + (size_t)bytes * (size_t)context->rank;
  fill_pattern(own, bytes, context->rank, 9);
  fill_pattern(memory, bytes, context->rank, 9);
  for (int method = AT; method <= AT_ALL; method += AT_ALL - AT) {
    CHECK_OK(context, transfer(file, 1, method, 0, 0, own, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    memset(own, 0, bytes);
    CHECK_OK(context, transfer(file, 0, method, 0, 0, own, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(own, memory, bytes) == 0);
    MPI_Barrier(context->comm);
  }
  munmap(map, 2 * all);
  free(memory);
  close_file(context, &file);
}

typedef struct {
  Context* context;
  MPI_File file;
  int method;
  volatile int calls;
} Cancelled;

static void* transfer_for_ever(void* argument) {
  Cancelled* own = argument;
  unsigned char memory[piece];
  fill_pattern(memory, piece, 3, 0);
  while (1) {
    transfer(own->file, own->method % 2, own->method / 2, 0, 0, memory, piece, MPI_BYTE,
             MPI_STATUS_IGNORE);
    own->calls++;
    pthread_testcancel();  // a wait for a call of another thread need not be where one ends
  }
  return NULL;
}

// Threads that are cancelled in calls which wait for nobody; the file goes on, and nothing is held.
static void cancelled_threads(Context* context) {
  if (!context->layered || context->thread_level < MPI_THREAD_MULTIPLE) return;
  char name[32];
  snprintf(name, sizeof name, "data%d", context->rank);
  MPI_File file = file_in_turns(context, MPI_COMM_SELF, name);
  const int methods[] = {AT, PLAIN, AT | NONBLOCKING, SHARED};
  for (int i = 0; i < 4 * 2 * 10; i++) {
    Cancelled work = {context, file, methods[i / 20] * 2 + i % 2, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, transfer_for_ever, &work);
    while (work.calls == 0) usleep(50);
    usleep((unsigned)(i * 37 % 300));
    pthread_cancel(thread);
    void* result = NULL;
    pthread_join(thread, &result);
    CHECK(context, result == PTHREAD_CANCELED);
    unsigned char back[piece], wanted[piece];
    fill_pattern(wanted, piece, 3, 0);
    CHECK_OK(context, MPI_File_write_at(file, 0, wanted, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context, MPI_File_read(file, back, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(back, wanted, piece) == 0);
  }
  close_file(context, &file);
}

int main(int argc, char** argv) {
  const Case cases[] = {{"children", children},
                        {"fault_handlers", fault_handlers},
                        {"guarded_memory", guarded_memory},
                        {"alarms", alarms},
                        {"mapped", mapped},
                        {"cancelled_threads", cancelled_threads}};
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
