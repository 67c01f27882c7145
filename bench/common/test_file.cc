#include "common/test_file.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "common/failure.h"
#include "common/meeting.h"
#include "common/posix_io.h"

namespace headrace::bench {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

/// What RemovedOnSignal has set, in a form that a signal's handler may use.
char doomed_path[PATH_MAX];
std::atomic<bool> is_doomed = false;
struct sigaction previous_actions[ending_signals.size()];

/// How long a rank lives on after it has removed its file. Launchers kill the others as soon as one
/// has ended, also those to which the same signal has not come yet.
constexpr timespec grace_of_others{.tv_sec = 0, .tv_nsec = 700'000'000};

/// Removes the file, lets the other ranks do the same, then lets the signal do what it would have
/// done.
void end_by(int number) {
  if (is_doomed) ::unlink(doomed_path);
  ::nanosleep(&grace_of_others, nullptr);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    if (ending_signals[i] == number) ::sigaction(number, &previous_actions[i], nullptr);
  }
  ::raise(number);
}

}  // namespace

void remove_test_file(MPI_Comm communicator, const std::string& path, bool mine) {
  meet(communicator);
  std::string error;
  if (mine && ::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    error = describe_errno("cannot remove '" + path + "'", errno);
  }
  agree(communicator, error);
}

void require_space(MPI_Comm communicator, const std::string& path, std::int64_t needed) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::int64_t available = free_space(path);
  std::string error;
  if (rank == 0 && available >= 0 && available < needed) {
    error = "not enough space for '" + path + "' (" + std::to_string(needed) + " bytes needed, " +
            std::to_string(available) + " free), give another path or " + make_smaller();
  }
  agree(communicator, error);
}

RemovedOnSignal::RemovedOnSignal(const std::string& path, bool removes) {
  if (!removes || path.size() >= sizeof doomed_path) return;
  std::memcpy(doomed_path, path.c_str(), path.size() + 1);
  is_doomed = true;
  struct sigaction action{};
  action.sa_handler = end_by;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    ::sigaction(ending_signals[i], nullptr, &previous_actions[i]);
    const bool is_ignored = previous_actions[i].sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaction(ending_signals[i], &action, nullptr);
  }
}

RemovedOnSignal::~RemovedOnSignal() {
  if (!is_doomed) return;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    ::sigaction(ending_signals[i], &previous_actions[i], nullptr);
  }
  is_doomed = false;
}

}  // namespace headrace::bench
