#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "posix/descriptor_buffer.h"
#include "posix/stand_ins.h"
#include "unit/descriptor_buffer_fixture.h"

namespace headrace::posix {
namespace {

TEST_F(Buffer, HoldsBackUntilTheBlockIsFull) {
  EXPECT_EQ(write("first"), 5);
  EXPECT_EQ(write("second"), 6);
  EXPECT_EQ(content(), "");
  EXPECT_EQ(buffer_.held(), 11);
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "firstsecond");
  const std::string more(kSize - 12, 'x');
  EXPECT_EQ(write(more), kSize - 12);
  EXPECT_EQ(write("abc"), 3);  // one in this block of the file, two in the next
  EXPECT_EQ(content(), "firstsecond" + more + "a");
  EXPECT_EQ(buffer_.leave(), 0);
  EXPECT_EQ(content(), "firstsecond" + more + "abc");
  EXPECT_EQ(::lseek(file_, 0, SEEK_CUR), kSize + 2);
  EXPECT_EQ(buffer_.moves(1), 3);
}

TEST_F(Buffer, WritesNoNeighbours) {
  const off64_t far = 100;
  EXPECT_EQ(write("aa"), 2);
  EXPECT_EQ(write("bb", &far), 2);  // the first is written before
  EXPECT_EQ(content(), "aa");
  EXPECT_EQ(::pwrite(file_, "other", 5, 50), 5);
  EXPECT_EQ(buffer_.flush(), 0);
  const std::string now = content();
  EXPECT_EQ(now.size(), 102U);
  EXPECT_EQ(now.substr(50, 5), "other");
  EXPECT_EQ(now.substr(100), "bb");
}

TEST_F(Buffer, ReadsAheadOnlyOfSequentialReaders) {
  ASSERT_EQ(::pwrite(file_, "0123456789", 10, 0), 10);
  EXPECT_EQ(read(2), "01");
  EXPECT_EQ(::pwrite(file_, "abcdefghij", 10, 0), 10);
  EXPECT_EQ(read(2), "cd");  // and all behind it
  EXPECT_EQ(::pwrite(file_, "0123456789", 10, 0), 10);
  EXPECT_EQ(read(2), "ef");
  const off64_t again = 4;
  EXPECT_EQ(read(2, &again), "45");  // who reads once more sees what is there
  EXPECT_EQ(read(9), "6789");
  EXPECT_EQ(read(9), "");
  ASSERT_EQ(::pwrite(file_, "more", 4, 10), 4);
  EXPECT_EQ(read(9), "more");  // the end is no end for good
}

TEST_F(Buffer, ReadsWhatItHoldsBack) {
  EXPECT_EQ(write("text"), 4);
  EXPECT_EQ(buffer_.seek(-3, SEEK_CUR), 1);
  EXPECT_EQ(read(10), "ext");
  EXPECT_EQ(buffer_.seek(0, SEEK_END), 4);
  EXPECT_EQ(buffer_.seek(-1, SEEK_SET), -EINVAL);
  EXPECT_EQ(buffer_.seek(-5, SEEK_CUR), -EINVAL);
  EXPECT_EQ(buffer_.position(), 4);
}

TEST_F(Buffer, KeepsWhatCannotBeWritten) {
  const rlimit limit{8, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(write("0123456789"), 10);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(buffer_.flush(), EFBIG);
  EXPECT_EQ(buffer_.held(), 2);
  EXPECT_EQ(write("ab"), 2);
  const std::string block(kSize, 'x');
  EXPECT_EQ(write(block), -EFBIG);  // of which nothing is taken
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "0123456789ab");
  EXPECT_EQ(buffer_.position(), 12);
}

TEST_F(Buffer, LeavesOtherFilesAlone) {
  EXPECT_EQ(write("text"), 4);
  const int other = ::open((folder_.path + "/other").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(::dup2(other, file_), file_);
  EXPECT_FALSE(buffer_.is_intact());
  EXPECT_EQ(buffer_.flush(), EBADF);
  EXPECT_EQ(buffer_.leave(), EBADF);
  EXPECT_EQ(::lseek(other, 0, SEEK_END), 0);
  ::close(other);
}

TEST_F(Blocks, HoldBackSeveralPlaces) {
  const off64_t far = 2 * kSize + 7;
  for (int i = 0; i < 100; ++i) {
    const off64_t at = far + i;
    EXPECT_EQ(write("a"), 1);
    EXPECT_EQ(write("b", &at), 1);
  }
  EXPECT_EQ(buffer_.moves(1), 0);
  EXPECT_EQ(buffer_.held(), 200);
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(buffer_.moves(1), 2);
  EXPECT_EQ(content(),
            std::string(100, 'a') + std::string(far - 100, '\0') + std::string(100, 'b'));
}

TEST_F(Blocks, WriteTheOldestIfThereIsNoFurtherOne) {
  for (const off64_t block : {5, 3, 1}) {
    const off64_t at = block * kSize;
    EXPECT_EQ(write("x", &at), 1);
  }
  const off64_t again = 5 * kSize + 1, further = 7 * kSize;
  EXPECT_EQ(write("y", &again), 1);
  EXPECT_EQ(content(), "");
  EXPECT_EQ(write("z", &further), 1);  // 3 is the oldest now
  EXPECT_EQ(content().size(), 3U * kSize + 1);
  EXPECT_EQ(buffer_.held(), 4);
  EXPECT_EQ(buffer_.leave(), 0);
  const std::string all = content();
  for (const auto& [at, text] : {std::pair{1, "x"}, {3, "x"}, {5, "xy"}, {7, "z"}}) {
    EXPECT_EQ(all.substr(static_cast<std::size_t>(at * kSize), std::strlen(text)), text);
  }
}

TEST_F(Blocks, AreInOrderWhereTheyWouldOverlap) {
  const off64_t far = kSize, before = kSize + 50, within = kSize + 2;
  EXPECT_EQ(write(std::string(10, 'a'), &far), 10);
  EXPECT_EQ(write("b"), 1);
  EXPECT_EQ(write(std::string(10, 'c'), &before), 10);
  EXPECT_EQ(write(std::string(10, 'd'), &within), 10);
  EXPECT_EQ(write(std::string(2 * kSize, 'e'), &within), 2 * kSize);
  EXPECT_EQ(write("f", &before), 1);
  EXPECT_EQ(buffer_.leave(), 0);
  std::string expected = "b" + std::string(kSize - 1, '\0') + "aa" + std::string(2 * kSize, 'e');
  expected[static_cast<std::size_t>(before)] = 'f';
  EXPECT_EQ(content(), expected);
}

/// Two places of one block, in turns: each of the first writes makes the one before give way.
TEST_F(Blocks, LetWritesPassThatGainNothing) {
  const auto jump = [&](int i) {
    const off64_t at = i % 2 * 1000 + i / 2;
    EXPECT_EQ(write(std::string(1, static_cast<char>('a' + i % 26)), &at), 1);
  };
  for (int i = 0; i < 17; ++i) jump(i);
  EXPECT_EQ(buffer_.held(), 1);
  jump(17);
  EXPECT_EQ(buffer_.held(), 0);
  EXPECT_EQ(content().substr(0, 9), "acegikmoq");
  EXPECT_EQ(content().substr(1000), "bdfhjlnpr");
  // Others gain again, later.
  for (int i = 1; i < 4096; ++i) EXPECT_EQ(write("x"), 1);
  EXPECT_EQ(buffer_.held(), 0);
  const off64_t far = 9000, next = 9001;
  EXPECT_EQ(write("y", &far), 1);
  EXPECT_EQ(write("z", &next), 1);
  EXPECT_EQ(buffer_.held(), 2);
  EXPECT_EQ(buffer_.leave(), 0);
  EXPECT_EQ(content().substr(9000), "yz");
}

TEST_F(Blocks, AreAsWritesInTurn) {
  std::string expected;
  std::minstd_rand random(7);
  for (int i = 0; i < 3000; ++i) {
    const auto at = static_cast<off64_t>(random() % 14000);
    const auto bytes = 1 + random() % (random() % 20 == 0 ? 5000 : 40);
    const std::string data(bytes, static_cast<char>('a' + i % 26));
    if (expected.size() < at + bytes) expected.resize(at + bytes, '\0');
    expected.replace(static_cast<std::size_t>(at), bytes, data);
    ASSERT_EQ(write(data, &at), static_cast<std::int64_t>(bytes));
    if (i % 16 == 15) {  // after more such writes they would pass
      ASSERT_EQ(buffer_.leave(), 0);
      TearDown();
      open(O_RDWR);
    }
    if (i % 50 == 0) {
      const auto from = static_cast<off64_t>(random() % 14000);
      const auto there = std::min<std::size_t>(from, expected.size());
      ASSERT_EQ(read(100, &from), expected.substr(there, 100));
    }
  }
  EXPECT_EQ(buffer_.leave(), 0);
  EXPECT_EQ(content(), expected);
}

TEST_F(Blocks, KeepWhatCannotBeWritten) {
  const rlimit limit{kSize + 4, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  const off64_t far = kSize;
  EXPECT_EQ(write("near"), 4);
  EXPECT_EQ(write("far away", &far), 8);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(buffer_.flush(), EFBIG);
  EXPECT_EQ(buffer_.held(), 4);
  EXPECT_EQ(content().size(), kSize + 4U);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_EQ(buffer_.leave(), 0);
  EXPECT_EQ(content(), "near" + std::string(kSize - 4, '\0') + "far away");
}

/// Of a file on a disk.
std::size_t pages_in_cache(int file, off64_t from, std::size_t bytes) {
  void* const view = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, from);
  std::vector<unsigned char> pages(bytes / 4096);
  if (view == MAP_FAILED || ::mincore(view, bytes, pages.data()) != 0) return 0;
  ::munmap(view, bytes);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](auto one) { return one & 1; }));
}

class ReadOn : public Buffer {
 protected:
  static constexpr std::size_t kBlock = 1 << 20;

  /// 16 blocks, none of them in memory.
  void SetUp() override {
    Buffer::SetUp();
    const std::string data(16 * kBlock, 'x');
    ASSERT_EQ(::pwrite(file_, data.data(), data.size(), 0), std::ssize(data));
    forget();
  }
  void forget() {
    ASSERT_EQ(::fsync(file_), 0);
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
    if (pages_in_cache(file_, 0, 16 * kBlock) != 0) GTEST_SKIP() << "it stays in memory";
  }
  void start(std::int64_t prefetch) {
    FileIdentity identity;
    ASSERT_EQ(find_identity(file_, identity), 0);
    buffer_.end();
    buffer_.start(file_, identity, true, {kBlock, 1, prefetch});
  }
  /// Of the two calls the second reads the rest of the block.
  void read_two_of(std::size_t block) {
    const auto begin = static_cast<off64_t>(block * kBlock), behind = begin + 10;
    EXPECT_EQ(read(10, &begin).size(), 10U);
    EXPECT_EQ(read(10, &behind).size(), 10U);
  }
  /// Whether the kernel reads these, in a while.
  bool is_read_on(std::size_t block, std::size_t blocks) {
    for (int i = 0; i < 500; ++i) {
      const auto from = static_cast<off64_t>(block * kBlock);
      if (pages_in_cache(file_, from, blocks * kBlock) == blocks * kBlock / 4096) return true;
      ::usleep(10'000);
    }
    return false;
  }
};

TEST_F(ReadOn, AsFarAsIsAskedFor) {
  start(3);
  read_two_of(0);
  EXPECT_EQ(buffer_.moves(0), 2);
  EXPECT_TRUE(is_read_on(2, 2));
}

TEST_F(ReadOn, NotUnlessItIsAskedFor) {
  start(0);
  read_two_of(0);
  EXPECT_LT(pages_in_cache(file_, 2 * kBlock, 2 * kBlock), 512U);
}

TEST_F(ReadOn, AlsoOfWhoHasGoneBack) {
  start(3);
  read_two_of(12);
  EXPECT_TRUE(is_read_on(13, 3));
  forget();
  if (IsSkipped()) return;
  read_two_of(0);
  EXPECT_TRUE(is_read_on(1, 3));
}

}  // namespace
}  // namespace headrace::posix
