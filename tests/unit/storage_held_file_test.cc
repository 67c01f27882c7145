#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "storage/held_file.h"

namespace headrace::storage {
namespace {

/// On tmpfs, which is a file system of the node's own everywhere; removed at once.
std::array<int, 2> opened_twice() {
  char name[] = "/dev/shm/headrace-held-file-XXXXXX";
  const int first = mkstemp(name);
  const int second = ::open(name, O_RDWR | O_CLOEXEC);
  ::unlink(name);
  return {first, second};
}

bool is_locked_by_this_process(int descriptor) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_pid == getpid();
}

TEST(HoldFile, moves_a_file_apart) {
  const auto [first, second] = opened_twice();
  const HeldDescriptor held = hold_file(second);
  EXPECT_GE(held.get(), 512);
  ::close(first);
}

TEST(HoldFile, takes_no_lock_of_the_program_away) {
  const auto [first, second] = opened_twice();
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(first, F_SETLK, &lock), 0);
  const HeldDescriptor held = hold_file(second);
  EXPECT_EQ(held.get(), second);
  EXPECT_TRUE(held.is_intact());
  EXPECT_TRUE(is_locked_by_this_process(second));
  ::close(first);
}

TEST(HoldFile, leaves_what_is_not_known_to_be_local) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const HeldDescriptor held = hold_file(ends[0]);
  EXPECT_EQ(held.get(), ends[0]);
  ::close(ends[1]);
}

TEST(HoldFile, never_holds_a_standard_descriptor) {
  const int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ::close(STDIN_FILENO);
  const auto [first, second] = opened_twice();
  ASSERT_EQ(first, STDIN_FILENO);
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(second, F_SETLK, &lock), 0);
  const HeldDescriptor held = hold_file(first);
  EXPECT_GT(held.get(), STDERR_FILENO);
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  ::close(second);
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    ::close(kept);
  }
}

}  // namespace
}  // namespace headrace::storage
