#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_mark.h"

namespace headrace {
namespace {

/// Of which nobody is told: see pthread_atfork().
pid_t clone_quietly() {
  return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
}

pid_t fork_usually() {
  return ::fork();
}

pid_t fork_quietly() {
  return ::_Fork();
}

int result_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(ProcessMark, IsHereInItsOwnProcess) {
  const ProcessMark one;
  const ProcessMark other;
  EXPECT_TRUE(one.is_here());
  EXPECT_TRUE(other.is_here());
  EXPECT_EQ(one.number(), other.number());
}

TEST(ProcessMark, IsNotHereInChildrenHoweverTheyAreMade) {
  const ProcessMark mark;
  for (const auto make : {&fork_usually, &fork_quietly, &clone_quietly}) {
    const pid_t child = make();
    if (child == 0) {
      if (mark.is_here()) ::_exit(1);
      const ProcessMark own;
      if (!own.is_here() || mark.is_here()) ::_exit(2);
      const pid_t inner = make();
      if (inner == 0) ::_exit(own.is_here() || mark.is_here() ? 3 : 0);
      ::_exit(result_of(inner) == 0 ? 0 : 4);
    }
    EXPECT_EQ(result_of(child), 0);
    EXPECT_TRUE(mark.is_here());
  }
}

}  // namespace
}  // namespace headrace
