#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/direct_io.h"
#include "storage/store.h"

namespace headrace::storage {
namespace {

constexpr std::size_t kMost = 1 << 20;

struct FreePages {
  void operator()(std::byte* pages) const { std::free(pages); }
};

/// Memory that begins with a page.
std::unique_ptr<std::byte, FreePages> take_pages(std::size_t bytes) {
  return std::unique_ptr<std::byte, FreePages>(
      static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
}

class DirectIoTest : public testing::Test {
 protected:
  DirectIoTest() {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/file";
    store_ =
        std::move(posix_file_system()
                      .open(path_, {.read = true, .write = true, .create = true, .is_direct = true})
                      .value());
    const int direct = ::open(path_.c_str(), O_RDWR | O_DIRECT);
    is_possible_ = direct >= 0;
    ::close(direct);
    plain_ = ::open(path_.c_str(), O_RDWR);
  }
  ~DirectIoTest() override {
    ::close(plain_);
    std::filesystem::remove_all(folder_);
  }

  std::size_t cached_pages(std::size_t bytes) const {
    void* const view = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, plain_, 0);
    std::vector<unsigned char> pages(bytes / kPage);
    EXPECT_EQ(::mincore(view, bytes, pages.data()), 0);
    ::munmap(view, bytes);
    return static_cast<std::size_t>(std::ranges::count_if(pages, [](auto one) { return one & 1; }));
  }

  std::string folder_;
  std::string path_;
  std::unique_ptr<Store> store_;
  int plain_ = -1;
  bool is_possible_ = false;
};

TEST_F(DirectIoTest, PassesTheCacheWithWholePages) {
  const auto memory = take_pages(kMost);
  std::memset(memory.get(), 'x', kMost);
  const iovec whole{memory.get(), kMost};
  EXPECT_EQ(store_->write(0, {&whole, 1}).bytes, static_cast<ByteCount>(kMost));
  if (!is_possible_) {
    EXPECT_FALSE(store_->choices().passed_cache);
    GTEST_SKIP() << "the file system refuses O_DIRECT";
  }
  EXPECT_TRUE(store_->choices().passed_cache);
  EXPECT_EQ(cached_pages(kMost), 0U);
  std::memset(memory.get(), 0, kMost);
  EXPECT_EQ(store_->read(0, {&whole, 1}).bytes, static_cast<ByteCount>(kMost));
  EXPECT_EQ(cached_pages(kMost), 0U);
  EXPECT_TRUE(std::all_of(memory.get(), memory.get() + kMost,
                          [](std::byte one) { return one == std::byte{'x'}; }));
}

/// Whatever lies beside pages, in memory and in the file, and whoever else uses the page cache.
TEST_F(DirectIoTest, IsAsOtherWrites) {
  const auto memory = take_pages(2 * kMost);
  std::string expected;
  std::minstd_rand random(3);
  for (int i = 0; i < 300; ++i) {
    auto at = static_cast<std::size_t>(random() % (3 * kMost));
    auto place = static_cast<std::size_t>(random() % kMost);
    if (i % 3 == 0) place = place / kPage * kPage + at % kPage;
    if (i % 5 == 0) {
      at = at / kPage * kPage;
      place = 0;
    }
    const std::size_t bytes = 1 + random() % (i % 4 == 0 ? kMost : 100'000);
    const iovec part{memory.get() + place, bytes};
    if (random() % 3 > 0) {
      std::memset(part.iov_base, 'a' + i % 26, bytes);
      if (expected.size() < at + bytes) expected.resize(at + bytes, '\0');
      expected.replace(at, bytes, bytes, static_cast<char>('a' + i % 26));
      if (random() % 4 == 0) {
        ASSERT_EQ(::pwrite(plain_, part.iov_base, bytes, static_cast<off_t>(at)),
                  static_cast<ssize_t>(bytes));
      } else {
        const Transferred done = store_->write(static_cast<FileOffset>(at), {&part, 1});
        ASSERT_EQ(done.bytes, static_cast<ByteCount>(bytes));
        ASSERT_EQ(done.system_error, 0);
      }
    } else {
      std::memset(part.iov_base, '?', bytes);
      const Transferred done = store_->read(static_cast<FileOffset>(at), {&part, 1});
      ASSERT_EQ(done.system_error, 0);
      const std::size_t there = std::min(bytes, expected.size() - std::min(at, expected.size()));
      ASSERT_EQ(done.bytes, static_cast<ByteCount>(there)) << i;
      ASSERT_EQ(std::memcmp(part.iov_base, expected.data() + std::min(at, expected.size()), there),
                0)
          << i;
    }
  }
  EXPECT_EQ(store_->size().value(), std::ssize(expected));
  std::string found(expected.size(), '?');
  EXPECT_EQ(::pread(plain_, found.data(), found.size(), 0), std::ssize(found));
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(store_->choices().passed_cache, is_possible_);
}

TEST_F(DirectIoTest, TellsErrors) {
  const auto memory = take_pages(kMost);
  const iovec whole{memory.get(), kMost};
  const Transferred done = store_->write(
      std::numeric_limits<FileOffset>::max() / kPage * kPage - FileOffset{kMost}, {&whole, 1});
  EXPECT_EQ(done.bytes, 0);
  EXPECT_NE(done.system_error, 0);
}

/// Which ends after 3/4, or has a hole.
TEST_F(DirectIoTest, IsAsOtherRequestsWithMemoryThatIsNotThere) {
  const auto plain =
      std::move(posix_file_system().open(path_, {.read = true, .write = true}).value());
  constexpr std::size_t kBad = kMost / 4;
  void* const mapped =
      ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(mapped);
  std::memset(memory, 'x', kMost);
  for (const std::size_t begin : {std::size_t{0}, kBad, kMost - kBad}) {
    ASSERT_EQ(::mprotect(memory, kMost, PROT_READ | PROT_WRITE), 0);
    ASSERT_EQ(::mprotect(memory + begin, kBad, PROT_NONE), 0);
    for (const FileOffset at : {FileOffset{0}, FileOffset{kPage - 100}}) {
      const std::size_t shift = at == 0 ? 0 : kPage - 100;
      const iovec part{memory + shift, kMost - shift};
      const auto both = [&](auto move) {
        EXPECT_EQ(::ftruncate(plain_, 0), 0);
        const Transferred expected = move(*plain);
        const auto size = plain->size().value();
        EXPECT_EQ(::ftruncate(plain_, 0), 0);
        const Transferred done = move(*store_);
        EXPECT_EQ(done.system_error, EFAULT);
        EXPECT_EQ(expected.system_error, EFAULT);
        EXPECT_EQ(done.bytes, expected.bytes) << begin << " " << at;
        EXPECT_EQ(store_->size().value(), size);
      };
      both([&](Store& one) { return one.write(at, {&part, 1}); });
      both([&](Store& one) {
        EXPECT_EQ(::ftruncate(plain_, 2 * kMost), 0);
        return one.read(at, {&part, 1});
      });
    }
  }
  // Nothing of that turns it off.
  ASSERT_EQ(::mprotect(memory, kMost, PROT_READ | PROT_WRITE), 0);
  const iovec whole{memory, kMost};
  EXPECT_EQ(store_->write(0, {&whole, 1}).bytes, static_cast<ByteCount>(kMost));
  if (is_possible_) {
    EXPECT_EQ(cached_pages(kMost), 0U);
  }
  ::munmap(mapped, kMost);
}

/// Such as that of some devices, which none can reach but by the processor. Linux has such memory
/// of its own.
TEST_F(DirectIoTest, CopiesWhatDevicesCannotReach) {
  const auto secret = static_cast<int>(::syscall(SYS_memfd_secret, 0));
  if (secret < 0 || ::ftruncate(secret, kMost) != 0) GTEST_SKIP() << "there is no secret memory";
  void* const mapped = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0);
  ::close(secret);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "there is no secret memory";
  std::memset(mapped, 'x', kMost);
  const iovec whole{mapped, kMost};
  const Transferred done = store_->write(0, {&whole, 1});
  EXPECT_EQ(done.system_error, 0);
  EXPECT_EQ(done.bytes, static_cast<ByteCount>(kMost));
  std::memset(mapped, 0, kMost);
  EXPECT_EQ(store_->read(0, {&whole, 1}).bytes, static_cast<ByteCount>(kMost));
  EXPECT_EQ(static_cast<const char*>(mapped)[kMost - 1], 'x');
  ::munmap(mapped, kMost);
}

TEST(DirectIo, IsOffWithoutAFile) {
  DirectIo direct;
  EXPECT_EQ(direct.open(-1), ENOENT);
  EXPECT_FALSE(direct.is_on());
}

}  // namespace
}  // namespace headrace::storage
