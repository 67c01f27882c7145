#include "abi/flavour/end_of_job.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "abi/flavour/recorder_end.h"
#include "base/plain_message.h"
#include "base/spelling.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

constexpr std::chrono::milliseconds kTimeForText{200};

/// Arguments that are wrong are the program's fault, and fail no system call.
bool is_failed_access(const Error& error) {
  return error.system_error != 0 || error.error_class == ErrorClass::io;
}

/// Asks the file only now: calls that succeed pay nothing. Without memory: no.
bool asks_for_end(const OpenFile& file) noexcept {
  bool asks = false;
  static_cast<void>(attempt([&]() -> Error {
    const file::Hints hints = file.file->hints();
    const auto found = hints.find("abort_on_rw_error");
    asks = found != hints.end() && lower_case(found->second) == "enable";
    return {};
  }));
  return asks;
}

}  // namespace

void end_job_if_asked(const OpenFile& file, const Error& error) noexcept {
  if (!error || !is_failed_access(error) || !asks_for_end(file)) return;
  // Takes no memory, which may be what lacks.
  print_plain_message({error.message.empty() ? "a read or write failed for lack of memory"
                                             : std::string_view(error.message),
                       "; the job ends, as abort_on_rw_error asks"});
  file::settle_files();
  recording::note_abort();
  // MPICH's launcher drops what it has not yet read when it is told to end the job.
  std::this_thread::sleep_for(kTimeForText);
  native.Abort(is_initialized() ? MPI_COMM_WORLD : self_communicator(), EXIT_FAILURE);
  // MPICH's (up to 5.0.2, its issue 7716) may return while the launcher ends the job.
  ::_exit(EXIT_FAILURE);
}

}  // namespace headrace::HEADRACE_FLAVOUR
