// Buffers of descriptors whose file system fails.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

#include "posix/descriptor_buffer.h"
#include "unit/descriptor_buffer_fixture.h"

namespace headrace::posix {
namespace {

/// From now on these system calls fail with the errno, in this thread. False: they cannot be made
/// to.
bool fail(const std::vector<long>& calls, unsigned error) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::vector<long> calls_on_files() {
  std::vector<long> calls = {SYS_fstat, SYS_pwritev, SYS_pwrite64, SYS_statx};
#ifdef SYS_newfstatat
  calls.push_back(SYS_newfstatat);
#endif
  return calls;
}

TEST_F(Buffer, TellsWhatAFailingServerAnswers) {
  EXPECT_EQ(write("text"), 4);
  bool can_fail = false;
  std::thread([&] {
    can_fail = fail(calls_on_files(), ESTALE);
    if (!can_fail) return;
    EXPECT_TRUE(buffer_.is_intact());
    EXPECT_EQ(buffer_.leave(), ESTALE);
  }).join();
  if (!can_fail) GTEST_SKIP() << "no filters of system calls here";
}

TEST_F(Buffer, EndsTheFileBehindWhatCannotBeWritten) {
  const rlimit limit{8, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(write("0123456789"), 10);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(buffer_.seek(0, SEEK_END), 10);
  EXPECT_EQ(buffer_.seek(-1, SEEK_END), 9);
  EXPECT_EQ(buffer_.seek_from_handler(2, SEEK_END), 12);
  EXPECT_EQ(buffer_.seek(0, SEEK_END), 10);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_EQ(write("ab"), 2);
  EXPECT_EQ(buffer_.leave(), 0);
  EXPECT_EQ(content(), "0123456789ab");
}

}  // namespace
}  // namespace headrace::posix
