#include "base/blocked_signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "base/kept_errno.h"

namespace headrace {
namespace {

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

// If a thread blocks a signal that it causes itself, the kernel ends the process instead of calling
// the program's handler. Such a handler may make the memory accessible and go on.
constexpr std::uint64_t kCaused = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) |
                                  bit_of(SIGILL) | bit_of(SIGTRAP) | bit_of(SIGSYS);
// The C library cancels threads, and changes the user of all of them, by these.
constexpr std::uint64_t kOfTheLibrary = bit_of(32) | bit_of(33);

void set_mask(const std::uint64_t& mask, std::uint64_t* previous) {
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, previous, sizeof mask);
}

}  // namespace

BlockedSignals::BlockedSignals() {
  set_mask(~(kCaused | kOfTheLibrary), &previous_);
}

BlockedSignals::~BlockedSignals() {
  const KeptErrno kept;
  set_mask(previous_, nullptr);
}

}  // namespace headrace
