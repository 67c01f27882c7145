// Programs that end where no one expects it, or do to their process what a library may not like.
//
//   sudden_end MODE DIRECTORY
//
// All ranks write pieces in turn to DIRECTORY/data, 4 windows' worth, by a collective call; then
// MODE is done with the file open. What must come of it is known to Python (faults/endings.py).
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "abort_job.h"

namespace {

constexpr int kPiece = 1000;
constexpr int kPieces = 400;
constexpr unsigned kChildSeconds = 300;  ///< after which a child that hangs is ended

int rank = 0;
int size = 1;
MPI_File file = MPI_FILE_NULL;
// Never destroyed: where the program exits with a call under way, its memory must stay.
std::string& directory = *new std::string;
std::vector<char>& memory = *new std::vector<char>;

/// Memory that the program gives back when it exits.
struct Destroyed {
  void* data =
      mmap(nullptr, kPiece* kPieces, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ~Destroyed() {
    munmap(data, kPiece * kPieces);
    usleep(50'000);
  }
} destroyed;

bool is_last() {
  return rank == size - 1;
}

int write_all() {
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  return MPI_File_write_all(file, memory.data(), kPiece * kPieces, MPI_BYTE, MPI_STATUS_IGNORE);
}

MPI_Request iwrite_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_iwrite_all(file, memory.data(), kPiece * kPieces, MPI_BYTE, &request);
  return request;
}

void set_view() {
  MPI_Datatype pieces = MPI_DATATYPE_NULL;
  MPI_Type_vector(kPieces, kPiece, kPiece * size, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, MPI_Offset{kPiece} * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_Type_free(&pieces);
}

void open_and_write(const char* path_hint) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headrace_write_path", path_hint);
  const std::string path = directory + "/data";
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  MPI_Info_free(&info);
  set_view();
  memory.assign(kPiece * kPieces, static_cast<char>('a' + rank));
  if (write_all() != MPI_SUCCESS) std::puts("the first write failed");
}

/// Ends as a program should.
int orderly(bool good = true) {
  good = write_all() == MPI_SUCCESS && good;
  good = MPI_File_close(&file) == MPI_SUCCESS && good;
  int all = 0;
  int mine = good ? 1 : 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && all == 1) std::puts("ok");
  std::fflush(stdout);
  MPI_Finalize();
  return all == 1 ? 0 : 1;
}

/// The last rank ends in some way; the others are in a collective call that it does not make.
template <class End>
int leave_the_others(End end) {
  if (is_last()) {
    usleep(100'000);  // the others are asleep by now
    end();
  }
  write_all();
  return orderly();
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

template <class Do>
int fork_and(Do child_does) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kChildSeconds);
    child_does();
  }
  const int code = exit_code_of(child);
  if (code != 0) std::printf("rank %d: the child ends with %d\n", rank, code);
  return orderly(code == 0);
}

/// The C library's handlers run in the child: nothing there may touch the parent's files.
int fork_exit() {
  MPI_Request request = iwrite_all();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kChildSeconds);
    exit(0);
  }
  // Some libraries end a child with another code, with and without the layer.
  exit_code_of(child);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return orderly();
}

/// The standard leaves MPI calls of a child open; this one must not hang it, nor harm the parent.
int fork_write() {
  return fork_and([] {
    MPI_File_write_at(file, 0, memory.data(), kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    _exit(0);
  });
}

int fork_wait() {
  MPI_Request request = iwrite_all();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kChildSeconds);
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    _exit(0);
  }
  const bool good = exit_code_of(child) == 0;
  return orderly(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && good);
}

/// By POSIX calls, beside the parent's own.
int fork_posix() {
  return fork_and([] {
    FILE* stream = std::fopen((directory + "/data").c_str(), "r+");
    const bool good = stream != nullptr && std::fseek(stream, long{kPiece} * rank, SEEK_SET) == 0 &&
                      std::fputc('a' + rank, stream) != EOF;
    _exit(good && std::fclose(stream) == 0 ? 0 : 1);
  });
}

int fork_exec() {
  return fork_and([] {
    // Nothing of ours is inherited by another program.
    const char* const list =
        "for f in /proc/self/fd/*; do case $(readlink $f) in *headrace*|*/data) exit 7;; esac; "
        "done";
    execl("/bin/sh", "sh", "-c", list, nullptr);
    _exit(6);
  });
}

void throw_error(MPI_File*, int*, ...) {
  throw std::runtime_error("of the program's error handler");
}

struct NotAnException {};

void throw_other(MPI_File*, int*, ...) {
  throw NotAnException{};
}

int handler_calls = 0;
std::jmp_buf before_call;

void count_and_throw(MPI_File* own, int* code, ...) {
  ++handler_calls;
  throw_error(own, code);
}

void jump(MPI_File*, int*, ...) {
  ++handler_calls;
  std::longjmp(before_call, 1);
}

void set_handler(MPI_File_errhandler_function* function) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(function, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
}

int refused_write() {
  return MPI_File_write_at(file, -1, memory.data(), 1, MPI_BYTE, MPI_STATUS_IGNORE);
}

/// A write whose error is told when it is waited for.
int failing_wait() {
  MPI_Request request = MPI_REQUEST_NULL;
  const rlimit limit{kPiece, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  MPI_File_iwrite_at(file, kPiece * kPieces, memory.data(), kPiece, MPI_BYTE, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// A handler's exception reaches the program, from one call of the handler, and the file goes on.
int throws() {
  bool good = true;
  set_handler(&count_and_throw);
  for (int i = 1; i <= 4; ++i) {
    bool caught = false;
    try {
      i < 3 ? refused_write() : failing_wait();
    } catch (const std::runtime_error&) {
      caught = true;
    }
    good = good && caught && handler_calls == i;
  }
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  set_handler(&throw_other);
  try {
    refused_write();
    good = false;
  } catch (const NotAnException&) {
  }
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  // Here each rank learns of the other's failed writes, so that close has nothing to tell.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  return orderly(good);
}

int jumps() {
  set_handler(&jump);
  if (setjmp(before_call) == 0) {
    refused_write();
    handler_calls = -1;
  }
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  return orderly(handler_calls == 1);
}

int uncaught() {
  set_handler(&throw_error);
  return leave_the_others([] { refused_write(); });
}

/// Objects that make the calls come and go; each is patched where it has large counts.
int unloads(const char* plugin) {
  bool good = true;
  for (int i = 0; i < 20; ++i) {
    void* const object = dlopen(plugin, RTLD_NOW);
    if (object == nullptr) std::printf("%s\n", dlerror());
    // The layer looks for new objects when a file is opened and when a view is set.
    set_view();
    using Write = int(MPI_File, const void*, int);
    auto* const write = reinterpret_cast<Write*>(dlsym(object, "plugin_write"));
    good = good && write != nullptr && write(file, memory.data(), kPiece) == MPI_SUCCESS;
    dlclose(object);
  }
  return orderly(good);
}

void finalize_at_exit() {
  orderly();
}

void* write_for_ever(void*) {
  while (true) MPI_File_write_at(file, 0, memory.data(), kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
}

/// Another thread is in the layer while the process exits.
int exit_beside_thread() {
  pthread_t thread;
  pthread_create(&thread, nullptr, &write_for_ever, nullptr);
  usleep(20'000);
  exit(0);
}

/// A thread is cancelled inside a call that waits for nobody.
int cancels() {
  pthread_t thread;
  pthread_create(&thread, nullptr, &write_for_ever, nullptr);
  usleep(20'000);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  return orderly(result == PTHREAD_CANCELED);
}

int run(const std::string& mode, const char* plugin) {
  if (mode == "orderly") return orderly();
  if (mode == "abort") return leave_the_others([] { abort_job(42); });
  if (mode == "kill") return leave_the_others([] { raise(SIGKILL); });
  if (mode == "segv") return leave_the_others([] { raise(SIGSEGV); });
  if (mode == "term") return leave_the_others([] { raise(SIGTERM); });
  if (mode == "exit-one") return leave_the_others([] { exit(3); });
  if (mode == "quick-exit-one") return leave_the_others([] { _exit(3); });
  if (mode == "exec-one") {
    return leave_the_others([] { execl("/bin/sh", "sh", "-c", "exit 3", nullptr); });
  }
  if (mode == "uncaught") return uncaught();
  if (mode == "kill-background") {
    MPI_Request request = is_last() ? MPI_REQUEST_NULL : iwrite_all();
    if (is_last()) usleep(100'000), raise(SIGKILL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 0;
  }
  if (mode == "kill-close") {
    if (is_last()) usleep(100'000), raise(SIGKILL);
    MPI_File_close(&file);
    return 0;
  }
  if (mode == "return") return 0;
  if (mode == "exit-background") {
    iwrite_all();
    exit(0);
  }
  if (mode == "exit-destroys") {
    std::memcpy(destroyed.data, memory.data(), memory.size());
    for (int i = 0; i < 8; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_File_seek(file, 0, MPI_SEEK_SET);
      MPI_File_iwrite_all(file, destroyed.data, kPiece * kPieces, MPI_BYTE, &request);
    }
    exit(0);
  }
  if (mode == "quick-exit-background") {
    iwrite_all();
    _exit(0);
  }
  if (mode == "exit-beside-thread") return exit_beside_thread();
  if (mode == "cancels") return cancels();
  if (mode == "finalize-at-exit") {
    std::atexit(&finalize_at_exit);
    exit(0);
  }
  if (mode == "finalize-open") {
    iwrite_all();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::puts("ok");
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  if (mode == "exit-after-finalize") {
    const int code = orderly();
    exit(code);
  }
  if (mode == "fork-exit") return fork_exit();
  if (mode == "fork-write") return fork_write();
  if (mode == "fork-wait") return fork_wait();
  if (mode == "fork-posix") return fork_posix();
  if (mode == "fork-exec") return fork_exec();
  if (mode == "throws") return throws();
  if (mode == "jumps") return jumps();
  if (mode == "unloads") return unloads(plugin);
  std::fprintf(stderr, "no mode %s\n", mode.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const std::string mode = argv[1];
  int provided = 0;
  const bool threads = mode == "exit-beside-thread" || mode == "cancels";
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  directory = argv[2];
  open_and_write(argc > 3 ? argv[3] : "automatic");
  MPI_Barrier(MPI_COMM_WORLD);
  return run(mode, argc > 4 ? argv[4] : "");
}
