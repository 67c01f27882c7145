#include "abi/flavour/end_of_job.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "abi/flavour/recorder_end.h"
#include "base/plain_message.h"
#include "posix/descriptor_buffers.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

constexpr std::chrono::milliseconds kTimeForText{200};

/// Arguments that are wrong are the program's fault, and fail no system call.
bool is_failed_access(const Error& error) {
  return error.system_error != 0 || error.error_class == ErrorClass::io;
}

}  // namespace

void end_job_if_asked(const FileLink& file, const Error& error) noexcept {
  if (!error || !file.ends_job.load(std::memory_order_relaxed) || !is_failed_access(error)) return;
  // Takes no memory, which may be what lacks.
  print_plain_message({error.message.empty() ? "a read or write failed for lack of memory"
                                             : std::string_view(error.message),
                       "; the job ends, as abort_on_rw_error asks"});
  file::settle_files();
  posix::buffers::settle_all();
  recording::note_abort();
  // MPICH's launcher drops what it has not yet read when it is told to end the job.
  std::this_thread::sleep_for(kTimeForText);
  native.Abort(is_initialized() ? MPI_COMM_WORLD : self_communicator(), EXIT_FAILURE);
  // MPICH's (up to 5.0.2, its issue 7716) may return while the launcher ends the job.
  ::_exit(EXIT_FAILURE);
}

}  // namespace headrace::HEADRACE_FLAVOUR
