#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/held_descriptor.h"

namespace headrace {
namespace {

using Place = HeldDescriptor::Place;

int open_null() {
  return ::open("/dev/null", O_RDWR | O_CLOEXEC);
}

bool is_open(int number) {
  return fcntl(number, F_GETFD) >= 0;
}

/// As the program's next files that get this number do.
void put_another_file_at(int number) {
  const int other = open_null();
  ASSERT_EQ(dup2(other, number), number);
  ::close(other);
}

TEST(HeldDescriptor, lies_apart_and_closes) {
  const int given = open_null();
  int number = -1;
  {
    const HeldDescriptor held(given);
    number = held.get();
    EXPECT_GE(number, 512);
    EXPECT_FALSE(is_open(given));
    EXPECT_TRUE(held.is_intact());
    EXPECT_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(HeldDescriptor, holds_none) {
  errno = ENOENT;
  HeldDescriptor none(-1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(none);
  EXPECT_TRUE(none.is_intact());
  EXPECT_EQ(none.close(), 0);
}

TEST(HeldDescriptor, leaves_a_number_that_it_lost_alone) {
  HeldDescriptor held(open_null());
  const int number = held.get();
  put_another_file_at(number);
  EXPECT_FALSE(held.is_intact());
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(held.close(), EBADF);
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

// O_PATH: such descriptors take no mark.
TEST(HeldDescriptor, leaves_the_number_of_a_place_that_it_lost_alone) {
  HeldDescriptor held(::open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_GE(held.get(), 512);
  EXPECT_TRUE(held.is_intact());
  const int number = held.get();
  put_another_file_at(number);
  EXPECT_FALSE(held.is_intact());
  EXPECT_EQ(errno, EBADF);
  // The same directory, but not as we hold it.
  const int other = ::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(dup2(other, number), number);
  ::close(other);
  EXPECT_FALSE(held.is_intact());
  EXPECT_EQ(held.close(), EBADF);
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(HeldDescriptor, gives_a_lost_number_to_no_other) {
  HeldDescriptor lost(open_null());
  ::close(lost.get());
  HeldDescriptor later(open_null());
  EXPECT_NE(later.get(), lost.get());
  EXPECT_FALSE(lost.is_intact());
  EXPECT_TRUE(later.is_intact());
  EXPECT_EQ(lost.close(), EBADF);
  EXPECT_TRUE(later.is_intact());
  // Its number is free for ours again.
  EXPECT_EQ(later.close(), 0);
}

TEST(HeldDescriptor, moves_with_its_owner) {
  HeldDescriptor first(open_null());
  const int number = first.get();
  HeldDescriptor second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(second.is_intact());
  first = std::move(second);
  EXPECT_EQ(first.get(), number);
  EXPECT_EQ(first.close(), 0);
}

TEST(HeldDescriptor, stays_where_it_is_told_or_no_number_is_free) {
  const int given = open_null();
  HeldDescriptor staying(given, Place::as_it_is);
  EXPECT_EQ(staying.get(), given);
  EXPECT_TRUE(staying.is_intact());

  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = open_null();
  const rlimit few{static_cast<rlim_t>(next + 1), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> filled;
  for (int number = open_null(); number >= 0; number = open_null()) filled.push_back(number);
  HeldDescriptor held(next);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(held.get(), next);
  EXPECT_TRUE(held.is_intact());
  for (const int number : filled) ::close(number);
}

}  // namespace
}  // namespace headrace
