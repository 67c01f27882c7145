#include "common/failure.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "common/meeting.h"

namespace headrace::bench {
namespace {

/// The running program's, for advice; null where run_program() did not start it.
const char* size_options = nullptr;

std::string advice_for(int system_error) {
  switch (system_error) {
    case ENOENT: return ", create the directory or give another path";
    case EACCES:
    case EPERM:
    case EROFS: return ", give a path in a directory you may write to";
    case ENOSPC:
    case EDQUOT: return ", free some space or " + make_smaller();
    case EFBIG: return ", raise the limit (ulimit -f) or " + make_smaller();
    case EISDIR: return ", give the name of a file";
    default: return "";
  }
}

/// The system's error that an MPI error stands for, 0 where neither class nor text tells one.
int system_error_of(int code, const char* reason) {
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_NO_SPACE) return ENOSPC;
  if (error_class == MPI_ERR_QUOTA) return EDQUOT;
  if (error_class == MPI_ERR_NO_SUCH_FILE) return ENOENT;
  if (error_class == MPI_ERR_ACCESS) return EACCES;
  if (error_class == MPI_ERR_READ_ONLY) return EROFS;
  for (const int system_error : {ENOSPC, EDQUOT}) {  // MPICH's class is MPI_ERR_IO
    if (std::strstr(reason, std::strerror(system_error)) != nullptr) return system_error;
  }
  return 0;
}

void one_line(std::string& text) {
  for (char& character : text) {
    if (character == '\n' || character == '\r') character = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

}  // namespace

std::string describe_errno(const std::string& problem, int system_error) {
  return problem + " (" + std::strerror(system_error) + ")" + advice_for(system_error);
}

std::string describe_mpi(const std::string& problem, int code) {
  char reason[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  std::string text = problem + " (" + reason + ")";
  one_line(text);
  return text + advice_for(system_error_of(code, reason));
}

std::string make_smaller() {
  const std::string text = "make the test smaller";
  return size_options == nullptr ? text : text + " with " + size_options;
}

void agree_on_memory(MPI_Comm communicator, const std::string& what,
                     const std::function<void()>& allocate) {
  bool enough = false;
  try {
    allocate();
    enough = true;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // of a vector: beyond any memory
  }
  agree(communicator,
        enough ? std::string() : "not enough memory for " + what + ", make the test smaller");
}

void agree(MPI_Comm communicator, const std::string& text) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const int mine = text.empty() ? size : rank;
  int first = size;
  meet(communicator);
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator);
  if (first == size) return;
  char shared[2048] = {};
  std::snprintf(shared, sizeof shared, "%s", text.c_str());
  MPI_Bcast(shared, sizeof shared, MPI_CHAR, first, communicator);
  std::string message = shared;
  if (size > 1) message += " [rank " + std::to_string(first) + "]";
  throw AgreedFailure(message);
}

int run_program(int argc, char** argv, const Program& program, int (*body)(int, char**)) {
  size_options = program.size_options;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
    std::fprintf(stderr, "%s: error: MPI_Init failed\n", program.name);
    return 1;
  }
  // A file beyond the limit (ulimit -f) is then an error that can be told, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 0;
  try {
    status = body(argc, argv);
  } catch (const AgreedFailure& failure) {
    if (rank == 0) std::fprintf(stderr, "%s: error: %s\n", program.name, failure.what());
    status = failure.exit_code;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s: error: %s [rank %d]\n", program.name, failure.what(), rank);
    MPI_Abort(MPI_COMM_WORLD, failure.exit_code);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: error: %s [rank %d]\n", program.name, failure.what(), rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fflush(nullptr);
  // Launchers end a job at the first exit code that is not 0: nobody leaves before rank 0 is done.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}

}  // namespace headrace::bench
