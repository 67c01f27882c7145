// What goes wrong around a program, as far as a user can bring it about without being root: a full
// device, no descriptors or memory left, a file that others shorten or remove, ranks that end.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

constexpr std::int64_t kLength = 1 << 20;
constexpr std::int64_t kPiece = 4096;

/// A limit of this process while this lives.
class Limit {
 public:
  Limit(decltype(RLIMIT_NOFILE) what, rlim_t value) : what_(what) {
    ::getrlimit(what_, &before_);
    struct rlimit limit = before_;
    limit.rlim_cur = std::min(limit.rlim_max, value);
    ::setrlimit(what_, &limit);
  }
  ~Limit() { ::setrlimit(what_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  decltype(RLIMIT_NOFILE) what_;
  struct rlimit before_{};
};

int count_of(const std::vector<unsigned char>& data) {
  return static_cast<int>(data.size());
}

bool is_present(const Trial& trial, const std::vector<unsigned char>& data) {
  const Places places = in_turn(trial, kPiece);
  const std::vector<unsigned char> file = content(trial.path());
  for (std::int64_t i = 0; i < count_of(data); ++i) {
    const auto place = static_cast<std::size_t>(places.of(i));
    if (place >= file.size() || file[place] != data[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

/// A file in which pieces of all ranks in turn are written once: what a library needs to write
/// together is there.
MPI_File written_file(Trial& trial, const std::vector<unsigned char>& data) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, in_turn(trial, kPiece));
  trial.expect_success(
      CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, MPI_STATUS_IGNORE)),
      "write_all");
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  return file;
}

void judge_full(const Trial& trial, int code, const MPI_Status& status) {
  trial.expect_class(code, MPI_ERR_NO_SPACE);
  trial.expect(byte_count(status) == 0, "counts bytes of a full device");
}

/// A device that is always full, as each Linux has it.
MPI_File full_device(Trial& trial) {
  const MPI_File marked = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File other = marked;
  trial.close(other);
  MPI_File file = MPI_FILE_NULL;
  const int code =
      CALL(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  if (!trial.expect_success(code, "open")) throw Stop{};
  return file;
}

void full_alone(Trial& trial) {
  MPI_File file = full_device(trial);
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_Status status = empty_status();
  const int code = CALL(MPI_File_write_at(file, 0, data.data(), count_of(data), MPI_BYTE, &status));
  judge_full(trial, code, status);
  CALL(MPI_File_close(&file));
}

void full_together(Trial& trial) {
  MPI_File file = full_device(trial);
  see(trial, file, in_turn(trial, 512));
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_Status status = empty_status();
  const int code = CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, &status));
  judge_full(trial, code, status);
  CALL(MPI_File_close(&file));
}

// One rank has no descriptor left: nobody opens the file, and nobody waits for ever.
void no_descriptors(Trial& trial) {
  MPI_File first = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_SUCCESS;
  {
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    const Limit limit(RLIMIT_NOFILE, trial.is_last() ? static_cast<rlim_t>(next) : RLIM_INFINITY);
    code = CALL(MPI_File_open(MPI_COMM_WORLD, trial.path("other").c_str(),
                              MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  }
  trial.expect(code != MPI_SUCCESS, "success, and one rank could not open it");
  trial.close(first);
}

void little_memory(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  long pages = 0;
  if (std::FILE* const statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%ld", &pages) != 1) pages = 0;
    std::fclose(statm);
  }
  constexpr rlim_t kLeft = rlim_t{32} << 20;
  int code = MPI_SUCCESS;
  {
    const auto used = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const Limit limit(RLIMIT_AS, pages > 0 ? used + kLeft : RLIM_INFINITY);
    MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
    see(trial, file, in_turn(trial, kPiece));
    code = CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, MPI_STATUS_IGNORE));
    CALL(MPI_File_close(&file));
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  trial.expect(code != MPI_SUCCESS || is_present(trial, data), "success, and data are missing");
}

// Another process shortens the file between open and read.
void cut(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = written_file(trial, data);
  constexpr std::int64_t kLeft = 100'000;
  if (trial.rank == 0 && ::truncate(trial.path().c_str(), kLeft) != 0) throw Stop{};
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  std::vector<unsigned char> memory(data.size());
  MPI_Status status = empty_status();
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  const int code =
      CALL(MPI_File_read_all(file, memory.data(), count_of(memory), MPI_BYTE, &status));
  trial.expect_success(code, "read_all");
  const Places places = in_turn(trial, kPiece);
  std::int64_t there = 0;
  while (places.of(there) < kLeft) ++there;
  trial.expect(byte_count(status) == there,
               byte_count(status) == kLength ? "full count" : "wrong count");
  trial.expect(std::equal(data.begin(), data.begin() + there, memory.begin()), "wrong data");
  trial.close(file);
}

// Another process removes it: who has it open goes on with it.
void removed(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = written_file(trial, data);
  if (trial.rank == 0) ::unlink(trial.path().c_str());
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  std::vector<unsigned char> memory(data.size());
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  trial.expect_success(
      CALL(MPI_File_read_all(file, memory.data(), count_of(memory), MPI_BYTE, MPI_STATUS_IGNORE)),
      "read_all");
  trial.expect(memory == data, "wrong data");
  trial.close(file);
}

/// The last rank ends by `end`; the others are in a collective call with it.
void leave_the_others(Trial& trial, void (*end)()) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = written_file(trial, data);
  if (trial.is_last()) {
    record("ends");
    ::usleep(100'000);  // the others wait by now
    end();
  }
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, MPI_STATUS_IGNORE));
  CALL(MPI_File_close(&file));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
}

void killed(Trial& trial) {
  leave_the_others(trial, [] { std::raise(SIGKILL); });
}

void aborted(Trial& trial) {
  leave_the_others(trial, [] { MPI_Abort(MPI_COMM_WORLD, 1); });
}

// All ranks exit, with a call under way and the file open.
void exited(Trial& trial) {
  static const std::vector<unsigned char>& data =
      *new std::vector<unsigned char>(pattern(trial.rank, kLength));
  MPI_File file = written_file(trial, data);
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request));
  record("ends");
  std::exit(0);
}

// The program starts another one while a call is under way.
void forked(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = written_file(trial, data);
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request));
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  trial.expect_success(CALL(MPI_Wait(&request, MPI_STATUS_IGNORE)), "wait");
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  trial.expect(is_present(trial, data), "data missing");
}

void throw_error(MPI_File*, int*, ...) {
  throw std::runtime_error("of the program");
}

// As MPI::ERRORS_THROW_EXCEPTIONS of the former C++ bindings did it.
void thrown(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(throw_error, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  bool caught = false;
  try {
    const int value = 1;
    CALL(MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE));
  } catch (const std::runtime_error&) {
    caught = true;
  }
  trial.expect(caught, "no exception arrives");
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  trial.close(file);
}

constexpr Case kCases[] = {
    {"fault-full", 2, Ground::standard, "14.7, 14.8",
     "MPI_File_write_at to a full device: MPI_ERR_NO_SPACE, and a true count", full_alone},
    {"fault-full-all", 2, Ground::standard, "14.7, 14.8",
     "MPI_File_write_all of pieces in turn to a full device: MPI_ERR_NO_SPACE, and a true count",
     full_together},
    {"fault-descriptors", 2, Ground::standard, "14.2.1, 14.7",
     "MPI_File_open where one rank has no descriptor left: an error on all ranks", no_descriptors},
    {"fault-memory", 2, Ground::practice, "14.7",
     "MPI_File_write_all with 32 MiB of addresses left: the data get there, or an error",
     little_memory},
    {"fault-cut", 2, Ground::practice, "14.4.1",
     "a file that is shortened while it is open: MPI_File_read_all counts what is there", cut},
    {"fault-removed", 2, Ground::practice, "14.2.4",
     "a file that is removed while it is open can be read until it is closed", removed},
    {"fault-killed", 2, Ground::practice, "11.4.2",
     "a rank is killed (SIGKILL) while others are in MPI_File_write_all: the job ends", killed},
    {"fault-abort", 2, Ground::standard, "11.4.2",
     "MPI_Abort by one rank while others are in MPI_File_write_all: the job ends", aborted},
    {"fault-exit", 2, Ground::practice, "11.2.2",
     "exit without MPI_Finalize, a file open and a request under way: the job ends", exited},
    {"fault-fork", 2, Ground::practice, "11.2",
     "a program is started by fork and exec beside a nonblocking write, whose data get there",
     forked},
    {"fault-exception", 1, Ground::practice, "14.7",
     "an exception that a file's error handler throws reaches the program", thrown},
};

}  // namespace

std::span<const Case> fault_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
