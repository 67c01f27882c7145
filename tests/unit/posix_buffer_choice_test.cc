#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "posix/buffer_choice.h"
#include "posix/file_claim.h"
#include "posix/handler_lock.h"
#include "posix/mapped_files.h"
#include "posix/stand_ins.h"
#include "unit/private_folder.h"

namespace headrace::posix {
namespace {

[[gnu::noinline]] bool take_here(HandlerLock& lock) {
  return lock.take();
}

/// As far from the caller as the kernel's frame for a signal lets a handler be.
[[gnu::noinline]] bool take_deeper(HandlerLock& lock) {
  std::array<volatile char, 2048> frame{};
  const bool is_taken = take_here(lock);
  return is_taken || frame[0] != 0;
}

TEST(Lock, TellsWhoHasItAlready) {
  HandlerLock lock;
  ASSERT_TRUE(lock.take());
  EXPECT_FALSE(take_deeper(lock));
  lock.give_back();
  ASSERT_TRUE(take_deeper(lock));
  lock.leave_for(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));  // siglongjmp
  EXPECT_TRUE(lock.take());
  bool other = false;
  std::thread thread([&] { other = lock.take(); });
  lock.give_back();
  thread.join();
  EXPECT_TRUE(other);
}

/// A handler may have stopped the holder for good.
TEST(Lock, IsNotWaitedForLongerThanAsked) {
  HandlerLock lock;
  ASSERT_TRUE(lock.take());
  unsigned naps = 3;
  HandlerLock::Taken taken = HandlerLock::Taken::yes;
  std::thread([&] { taken = lock.take(&naps); }).join();
  EXPECT_EQ(taken, HandlerLock::Taken::no);
  EXPECT_EQ(naps, 0U);
  EXPECT_EQ(lock.take(&naps), HandlerLock::Taken::interrupting);
  lock.give_back();
  EXPECT_EQ(lock.take(&naps), HandlerLock::Taken::yes);
}

TEST(Choice, FilesThatWereMappedAreKnown) {
  const int file = ::open("/proc/self/exe", O_RDONLY);
  const int other = ::open("/dev/null", O_RDONLY);
  FileIdentity own;
  FileIdentity of_other;
  ASSERT_TRUE(find_identity(file, own) == 0 && find_identity(other, of_other) == 0);
  EXPECT_FALSE(was_mapped(own));
  note_shared_mapping(file);
  note_shared_mapping(file);
  EXPECT_TRUE(was_mapped(own));
  EXPECT_FALSE(was_mapped(of_other));
  note_shared_mapping(-1);
  ::close(file);
  ::close(other);
}

[[gnu::noinline]] std::uintptr_t deeper() {
  std::array<volatile char, 8192> frame{};
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - frame.size() + frame[0];
}

/// By a thread that may not come back to it.
TEST(Lock, IsGivenBackByAJumpOutOfIt) {
  HandlerLock lock;
  ASSERT_TRUE(take_deeper(lock));
  lock.leave_for(deeper());  // a handler's own jump
  std::thread([&] {
    lock.leave_for(~std::uintptr_t{0});  // another thread's
  }).join();
  std::atomic<bool> other = false;
  std::thread thread([&] { other = lock.take(); });
  ::usleep(50'000);
  EXPECT_FALSE(other);
  lock.leave_for(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  thread.join();
  EXPECT_TRUE(other);
}

TEST(Choice, OnlyFilesOfOneProcess) {
  const OpenFacts good{O_WRONLY | O_CREAT, S_IFREG, 0xef53, Sharing::none};
  EXPECT_FALSE(obstacle_of(good));
  const auto with = [&](auto member, auto value) {
    OpenFacts facts = good;
    facts.*member = value;
    return obstacle_of(facts);
  };
  EXPECT_TRUE(with(&OpenFacts::mode, mode_t{S_IFIFO}).is_silent);
  EXPECT_TRUE(with(&OpenFacts::mode, mode_t{S_IFCHR}).is_silent);
  EXPECT_TRUE(with(&OpenFacts::file_system, long{PROC_SUPER_MAGIC}).is_silent);
  EXPECT_TRUE(with(&OpenFacts::file_system, long{SYSFS_MAGIC}).is_silent);
  EXPECT_TRUE(with(&OpenFacts::flags, O_WRONLY | O_APPEND));
  EXPECT_TRUE(with(&OpenFacts::flags, O_RDWR | O_DIRECT));
  EXPECT_TRUE(with(&OpenFacts::flags, O_WRONLY | O_SYNC));
  EXPECT_TRUE(with(&OpenFacts::flags, O_WRONLY | O_DSYNC));
  for (const Sharing sharing : {Sharing::in_process, Sharing::in_node, Sharing::unknown}) {
    EXPECT_TRUE(with(&OpenFacts::sharing, sharing));
  }
}

TEST(Claim, IsOfOneAtATime) {
  const FileIdentity file{static_cast<std::uint64_t>(::getpid()), 7};
  EXPECT_EQ(find_in_node(file, nullptr), Sharing::none);
  {
    HeldDescriptor claim, second;
    EXPECT_EQ(find_in_node(file, &claim), Sharing::none);
    ASSERT_TRUE(claim);
    EXPECT_EQ(find_in_node(file, &second), Sharing::in_node);
    EXPECT_EQ(find_in_node(file, nullptr), Sharing::in_node);
    EXPECT_FALSE(second);
  }
  EXPECT_EQ(find_in_node(file, nullptr), Sharing::none);
}

TEST(Claim, FindsOtherDescriptors) {
  const record::PrivateFolder folder;
  const std::string name = folder.path + "/file";
  const int first = ::open(name.c_str(), O_CREAT | O_RDONLY, 0600);
  FileIdentity file;
  ASSERT_EQ(find_identity(first, file), 0);
  EXPECT_EQ(find_in_process(first, file, true), Sharing::none);
  const int second = ::open(name.c_str(), O_RDONLY);
  EXPECT_EQ(find_in_process(first, file, false), Sharing::none);
  EXPECT_EQ(find_in_process(first, file, true), Sharing::in_process);
  const int third = ::open(name.c_str(), O_WRONLY);
  EXPECT_EQ(find_in_process(first, file, false), Sharing::in_process);
  for (const int one : {first, second, third}) ::close(one);
}

}  // namespace
}  // namespace headrace::posix
