#include "common/failure.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "common/meeting.h"

namespace headrace::bench {
namespace {

const char* advice_for(int system_error) {
  switch (system_error) {
    case ENOENT: return ", create the directory or give another path";
    case EACCES:
    case EPERM:
    case EROFS: return ", give a path in a directory you may write to";
    case ENOSPC:
    case EDQUOT: return ", free some space or make the test smaller with -b or -s";
    case EFBIG: return ", raise the limit (ulimit -f) or make the test smaller";
    case EISDIR: return ", give the name of a file";
    default: return "";
  }
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
  return text;
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

int run_program(int argc, char** argv, const char* program, int (*body)(int, char**)) {
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
    std::fprintf(stderr, "%s: error: MPI_Init failed\n", program);
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
    if (rank == 0) std::fprintf(stderr, "%s: error: %s\n", program, failure.what());
    status = failure.exit_code;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s: error: %s [rank %d]\n", program, failure.what(), rank);
    MPI_Abort(MPI_COMM_WORLD, failure.exit_code);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: error: %s [rank %d]\n", program, failure.what(), rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fflush(nullptr);
  // Launchers end a job at the first exit code that is not 0: nobody leaves before rank 0 is done.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}

}  // namespace headrace::bench
