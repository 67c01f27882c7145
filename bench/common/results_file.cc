#include "common/results_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/failure.h"

namespace headrace::bench {
namespace {

bool is_first_rank(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank == 0;
}

/// Why the file cannot be written, found by opening it; empty where it can.
std::string open_problem(const std::string& path) {
  struct stat status{};
  const bool is_new = ::lstat(path.c_str(), &status) != 0;
  const bool has_kind = ::stat(path.c_str(), &status) == 0;
  // Opening a pipe would wait for its reader.
  if (has_kind && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return {};
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return describe_errno("cannot write '" + path + "'", errno);
  ::close(descriptor);
  if (is_new) ::unlink(path.c_str());
  return {};
}

std::string write_text(const std::string& path, const std::string& text) {
  const bool to_stdout = path == "-";
  std::FILE* file = to_stdout ? stdout : std::fopen(path.c_str(), "w");
  if (file == nullptr) return describe_errno("cannot write '" + path + "'", errno);
  const bool written =
      std::fputs(text.c_str(), file) >= 0 && std::fputc('\n', file) >= 0 && std::fflush(file) == 0;
  const int system_error = errno;
  if (!to_stdout) std::fclose(file);
  return written ? std::string() : describe_errno("cannot write '" + path + "'", system_error);
}

}  // namespace

void require_results_file(MPI_Comm communicator, const std::string& path) {
  const bool is_file = !path.empty() && path != "-";
  agree(communicator, is_file && is_first_rank(communicator) ? open_problem(path) : std::string());
}

void write_results_file(MPI_Comm communicator, const std::string& path, const std::string& text) {
  const bool writes = !path.empty() && is_first_rank(communicator);
  agree(communicator, writes ? write_text(path, text) : std::string());
}

}  // namespace headrace::bench
