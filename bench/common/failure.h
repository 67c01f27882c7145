#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace headrace::bench {

/// What ends a benchmark. The text reads "problem (why it is one), what to do" and is one line.
/// `exit_code` is 2 where the command line is at fault and 1 otherwise.
struct Failure : std::runtime_error {
  explicit Failure(const std::string& text, int exit_code = 1)
      : std::runtime_error(text), exit_code(exit_code) {}
  int exit_code;
};

/// A Failure that every rank of the communicator throws with the same text, so that rank 0 alone
/// may print it and all may finalize.
struct AgreedFailure : Failure {
  using Failure::Failure;
};

/// The text for a failed system call: "cannot open 'f' (No such file or directory)" and advice.
std::string describe_errno(const std::string& problem, int system_error);

/// The text for an MPI error code, on one line, with the same advice.
std::string describe_mpi(const std::string& problem, int code);

/// Throws AgreedFailure on all ranks of `communicator` when `text` is not empty on any of them; the
/// text is that of the lowest such rank. Collective.
void agree(MPI_Comm communicator, const std::string& text);

/// "make the test smaller", with the program's options that do it.
std::string make_smaller();

/// Calls `allocate` on every rank; all throw AgreedFailure where one has not the memory for it.
/// `what` names what the memory is for. Collective.
void agree_on_memory(MPI_Comm communicator, const std::string& what,
                     const std::function<void()>& allocate);

/// A benchmark program as its messages name it; `size_options` make its files smaller.
struct Program {
  const char* name;
  const char* size_options;
};

/// Runs a benchmark: MPI_Init, `body(argc, argv)`, MPI_Finalize. Prints a Failure as one line
/// "<name>: error: <text>" on stderr and returns the exit status of the process; a Failure that
/// not all ranks share ends in MPI_Abort.
int run_program(int argc, char** argv, const Program& program, int (*body)(int, char**));

}  // namespace headrace::bench
