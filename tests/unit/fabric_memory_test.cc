#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fabric/memory_pool.h"
#include "fabric/shared_memory.h"

namespace headrace::fabric {
namespace {

/// The object's path, empty where it has none. Other tests make objects at the same time: only what
/// a ticket names is one's own.
std::string object_name(const SharedMemory& memory) {
  const std::string name = memory.ticket().name;
  return name.empty() ? name : "/dev/shm" + name;
}

/// What this process still has mapped or open of such memory, of either kind.
std::vector<std::string> held_objects() {
  std::vector<std::string> held;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm/") != std::string::npos || line.find("/memfd:") != std::string::npos)
      held.push_back(line);
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code vanished;
    const std::string target = std::filesystem::read_symlink(entry.path(), vanished);
    if (target.find("/dev/shm/") == 0 || target.find("/memfd:") == 0) held.push_back(target);
  }
  return held;
}

class SharedMemoryTest : public testing::TestWithParam<SharedMemoryKind> {};

TEST_P(SharedMemoryTest, IsSeenByAnotherProcess) {
  constexpr std::size_t kSize = 1 << 20;
  auto made = SharedMemory::make(GetParam(), kSize);
  ASSERT_TRUE(made) << made.error().message;
  SharedMemory& memory = *made.value();
  ASSERT_TRUE(memory.commit(4096, 8192));
  memory.base()[4100] = std::byte{7};
  const pid_t child = fork();
  if (child == 0) {
    // The ticket alone, as it comes by a message.
    auto opened = SharedMemory::open(memory.ticket());
    if (!opened || opened.value()->base()[4100] != std::byte{7}) _exit(1);
    opened.value()->base()[4101] = std::byte{8};
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory.base()[4101], std::byte{8});
  const std::string name = object_name(memory);
  EXPECT_EQ(name.empty(), GetParam() == SharedMemoryKind::memfd);
  memory.unlink();
  EXPECT_FALSE(std::filesystem::exists(name)) << name;
}

/// Whether or not somebody has filled it before: what is told of that counts for the time only.
TEST_P(SharedMemoryTest, IsTheSameHoweverItIsMapped) {
  constexpr std::size_t kPart = 1 << 18;
  auto made = SharedMemory::make(GetParam(), 4 * kPart);
  ASSERT_TRUE(made) << made.error().message;
  SharedMemory& memory = *made.value();
  ASSERT_TRUE(memory.commit(0, 4 * kPart));
  std::byte* const filled = memory.base() + kPart;
  SharedMemory::populate(filled, kPart, false);
  std::memset(filled, 7, kPart);
  const pid_t child = fork();
  if (child == 0) {
    auto opened = SharedMemory::open(memory.ticket());
    if (!opened) _exit(1);
    std::byte* const parts = opened.value()->base() + kPart;
    for (const std::size_t at : {std::size_t{0}, kPart, 2 * kPart - 1}) {
      if (at % kPart == 0) SharedMemory::populate(parts + at, kPart, true);
      if (parts[at] != (at < kPart ? std::byte{7} : std::byte{0})) _exit(2);
      parts[at] = std::byte{8};
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(filled[0], std::byte{8});
  EXPECT_EQ(filled[1], std::byte{7});
  EXPECT_EQ(filled[kPart], std::byte{8});
  EXPECT_EQ(filled[2 * kPart - 1], std::byte{8});
}

/// Runs `act` in a child process of another user; its exit code.
template <class Act>
int as_another_user(Act act) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(99);
    _exit(act());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_P(SharedMemoryTest, IsNobodyElses) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  const mode_t mask = umask(0);
  auto made = SharedMemory::make(GetParam(), 1 << 20);
  umask(mask);
  ASSERT_TRUE(made) << made.error().message;
  const SharedMemory& memory = *made.value();
  EXPECT_EQ(as_another_user([&] { return SharedMemory::open(memory.ticket()) ? 1 : 0; }), 0);
  if (GetParam() != SharedMemoryKind::posix) return;
  // Neither can it be replaced or taken away.
  EXPECT_EQ(as_another_user([&] {
              const bool is_gone = ::unlink(object_name(memory).c_str()) == 0;
              return is_gone || ::rename("/dev/shm/none", object_name(memory).c_str()) == 0 ? 1 : 0;
            }),
            0);
  EXPECT_TRUE(SharedMemory::open(memory.ticket()));
}

/// An object that somebody else has put in the place of ours, or opened to all, is refused.
TEST(SharedMemoryTrust, RefusesWhatIsNotOursAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  auto made = SharedMemory::make(SharedMemoryKind::posix, 1 << 20);
  ASSERT_TRUE(made) << made.error().message;
  const SharedMemory& memory = *made.value();
  const std::string name = object_name(memory);
  ASSERT_EQ(chmod(name.c_str(), 0644), 0);
  EXPECT_FALSE(SharedMemory::open(memory.ticket()));
  ASSERT_EQ(chmod(name.c_str(), 0600), 0);
  EXPECT_TRUE(SharedMemory::open(memory.ticket()));
  ASSERT_EQ(chown(name.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(SharedMemory::open(memory.ticket()));
}

TEST(SharedMemoryTrust, FollowsNoLink) {
  auto made = SharedMemory::make(SharedMemoryKind::posix, 1 << 20);
  ASSERT_TRUE(made) << made.error().message;
  const std::string name = object_name(*made.value());
  const std::string other = name + "-target";
  ASSERT_EQ(rename(name.c_str(), other.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), name.c_str()), 0);
  EXPECT_FALSE(SharedMemory::open(made.value()->ticket()));
  ::unlink(other.c_str());
}

/// The name stands in a directory that all can read.
TEST(SharedMemoryTrust, DoesNotNameItsSecret) {
  auto made = SharedMemory::make(SharedMemoryKind::posix, 1 << 20);
  ASSERT_TRUE(made) << made.error().message;
  const SharedMemoryTicket& ticket = made.value()->ticket();
  for (const std::uint64_t word : ticket.secret) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(word));
    EXPECT_EQ(std::string(ticket.name).find(text.data()), std::string::npos);
  }
}

/// As in a program with a profiler, or with a clock of its own. Not all kernels begin anew.
TEST(SharedMemoryCommitTest, EndsUnderATimerThatInterruptsIt) {
  constexpr std::size_t kSize = std::size_t{128} << 20;
  auto made = SharedMemory::make(SharedMemoryKind::memfd, kSize);
  ASSERT_TRUE(made) << made.error().message;
  struct sigaction before{};
  struct sigaction tick{};
  tick.sa_handler = [](int) {};
  sigaction(SIGALRM, &tick, &before);
  const itimerval often{{0, 1'000}, {0, 1'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_TRUE(made.value()->commit(0, kSize));
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

TEST_P(SharedMemoryTest, LeavesNothingBehind) {
  std::string name;
  {
    auto made = SharedMemory::make(GetParam(), 1 << 16);
    ASSERT_TRUE(made) << made.error().message;
    name = object_name(*made.value());
    EXPECT_FALSE(held_objects().empty());
  }
  EXPECT_FALSE(std::filesystem::exists(name)) << name;
  EXPECT_EQ(held_objects(), std::vector<std::string>());
}

TEST_P(SharedMemoryTest, RefusesWrongTickets) {
  auto made = SharedMemory::make(GetParam(), 1 << 16);
  ASSERT_TRUE(made);
  const SharedMemoryTicket right = made.value()->ticket();
  EXPECT_TRUE(SharedMemory::open(right));
  SharedMemoryTicket wrong = right;
  wrong.secret[1] ^= 1;
  EXPECT_FALSE(SharedMemory::open(wrong));
  wrong = right;
  wrong.size *= 2;
  EXPECT_FALSE(SharedMemory::open(wrong));
  wrong = right;
  wrong.descriptor = 12'345;
  if (wrong.name[0] != '\0') wrong.name[12] = wrong.name[12] == '0' ? '1' : '0';
  EXPECT_FALSE(SharedMemory::open(wrong));
}

TEST_P(SharedMemoryTest, ForgetsReleasedMemory) {
  auto made = SharedMemory::make(GetParam(), 1 << 20);
  ASSERT_TRUE(made);
  SharedMemory& memory = *made.value();
  ASSERT_TRUE(memory.commit(0, memory.size()));
  std::memset(memory.base() + 8192, 1, 8192);
  memory.release(8192, 4096);
  EXPECT_EQ(memory.base()[8192], std::byte{0});
  EXPECT_EQ(memory.base()[12288], std::byte{1});
}

/// Where all of it is committed, the only place to look for more is beyond its end.
TEST_P(SharedMemoryTest, KeepsItsSizeWhereItLooksForMore) {
  constexpr std::size_t kSize = 1 << 20;
  auto made = SharedMemory::make(GetParam(), kSize);
  ASSERT_TRUE(made) << made.error().message;
  SharedMemory& memory = *made.value();
  ASSERT_TRUE(memory.commit(0, kSize));
  std::memset(memory.base() + 4096, 1, kSize - 4096);
  for (const std::size_t offset : {std::size_t{0}, kSize / 2}) {
    EXPECT_TRUE(memory.has_room(kSize - offset, kSize / 2));
    EXPECT_EQ(memory.base()[kSize - offset - 1], std::byte{1});
    EXPECT_TRUE(SharedMemory::open(memory.ticket())) << offset;
  }
  EXPECT_FALSE(memory.has_room(std::size_t{1} << 62, std::size_t{1} << 62));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SharedMemoryTest,
                         testing::Values(SharedMemoryKind::memfd, SharedMemoryKind::posix),
                         [](const auto& test) {
                           return test.param == SharedMemoryKind::memfd ? "memfd" : "posix";
                         });

TEST(SharedMemory, SaysWhereThereIsNoneLeft) {
  auto made = SharedMemory::make(SharedMemoryKind::memfd, std::size_t{1} << 40);
  ASSERT_TRUE(made) << "a terabyte of addresses costs nothing";
  EXPECT_FALSE(made.value()->commit(std::size_t{1} << 62, std::size_t{1} << 62));
}

TEST(MemoryPool, GivesEveryByteOnce) {
  constexpr std::size_t kSize = 1'000;
  MemoryPool pool(kSize);
  std::map<std::size_t, std::size_t> taken;
  std::minstd_rand random(5);
  for (int turn = 0; turn < 20'000; ++turn) {
    if (random() % 2 == 0) {
      const std::size_t size = random() % 200 + 1;
      const auto place = pool.take(size);
      if (!place) continue;
      ASSERT_LE(*place + size, kSize);
      const auto after = taken.lower_bound(*place);
      ASSERT_TRUE(after == taken.end() || *place + size <= after->first);
      ASSERT_TRUE(after == taken.begin() ||
                  std::prev(after)->first + std::prev(after)->second <= *place);
      taken[*place] = size;
    } else if (!taken.empty()) {
      const auto one = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      pool.give_back(one->first, one->second);
      taken.erase(one);
    }
  }
  for (const auto& [offset, size] : taken) pool.give_back(offset, size);
  EXPECT_EQ(pool.take(kSize), 0U) << "what was given back is whole again";
  EXPECT_EQ(pool.take(1), std::nullopt);
}

}  // namespace
}  // namespace headrace::fabric
