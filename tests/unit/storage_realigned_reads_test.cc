#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <tuple>
#include <vector>

#include "storage/kernel_copy.h"
#include "storage/realigned_reads.h"

namespace headrace::storage {
namespace {

constexpr ByteCount kPart = ByteCount{128} << 10;

/// A file in memory whose byte i is a number that depends on i, and pages to read it to.
class RealignedReadsTest : public testing::Test {
 protected:
  static constexpr ByteCount kSize = 3 * kPart + 1000;

  RealignedReadsTest() : file_(memfd_create("test", 0)), memory_(kSize + 3 * kPage) {
    std::vector<std::byte> bytes(kSize);
    for (ByteCount i = 0; i < kSize; ++i) bytes[static_cast<std::size_t>(i)] = content(i);
    EXPECT_EQ(pwrite(file_, bytes.data(), bytes.size(), 0), kSize);
  }
  ~RealignedReadsTest() override { ::close(file_); }

  static std::byte content(FileOffset offset) {
    return static_cast<std::byte>(offset * 7 + offset / 4096 + 1);
  }

  /// `len` bytes so far behind a page.
  iovec place(ByteCount behind, ByteCount len) {
    std::ranges::fill(memory_, std::byte{0});
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    const std::size_t to_page = kPage - address % kPage;
    return {memory_.data() + to_page + behind, static_cast<std::size_t>(len)};
  }

  /// Whether `moved` bytes are the file's from `offset` on, and those around are untouched.
  bool holds(const iovec& segment, FileOffset offset, ByteCount moved) const {
    const auto* begin = static_cast<const std::byte*>(segment.iov_base);
    for (ByteCount i = 0; i < moved; ++i) {
      if (begin[i] != content(offset + i)) return false;
    }
    const auto is_untouched = [](std::byte byte) { return byte == std::byte{0}; };
    return std::all_of(memory_.data(), begin, is_untouched) &&
           std::all_of(begin + moved, memory_.data() + memory_.size(), is_untouched);
  }

  int file_;
  std::vector<std::byte> memory_;
  RealignedReads always_{UseSetting::always};
};

TEST_F(RealignedReadsTest, PlacesAFewBytesFurtherInTheirPageAreMisplaced) {
  for (const auto& [behind, offset, misplaced] :
       {std::tuple<ByteCount, FileOffset, bool>{0, 0, false},
        {1, 0, true},
        {16, 0, true},
        {31, 0, true},
        {32, 0, false},
        {4095, 0, false},
        {16, 16, false},
        {16, 17, false},
        {16, 4096 * 5 + 15, true},
        {5, 4090, true},
        {16, 4090, true},
        {26, 4090, false}}) {
    EXPECT_EQ(is_misplaced(offset, place(behind, 5000)), misplaced) << behind << ' ' << offset;
  }
}

TEST_F(RealignedReadsTest, MovesAllThatIsThere) {
  for (const ByteCount len : {ByteCount{4096}, kPart, kPart + 1, kSize - 10}) {
    for (const FileOffset offset : {0, 1, 10}) {
      const iovec segment = place(offset + 16, len);
      EXPECT_EQ(always_.read(file_, offset, segment), len);
      EXPECT_TRUE(holds(segment, offset, len)) << len << ' ' << offset;
    }
  }
}

TEST_F(RealignedReadsTest, StopsWhereTheFileEnds) {
  const iovec segment = place(16, kSize + kPage);
  EXPECT_EQ(always_.read(file_, 2 * kPart, segment), kPart + 1000);
  EXPECT_TRUE(holds(segment, 2 * kPart, kPart + 1000));
  EXPECT_EQ(always_.read(file_, kSize, place(16, 5000)), 0);
  EXPECT_EQ(always_.read(file_, kSize + 5, place(16, 5000)), 0);
}

TEST_F(RealignedReadsTest, LeavesSmallReadsAndErrorsToTheUsualWay) {
  EXPECT_EQ(always_.read(file_, 0, place(16, RealignedReads::kLeast - 1)), 0);
  errno = 99;
  EXPECT_EQ(always_.read(-1, 0, place(16, 5000)), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(RealignedReads(UseSetting::always).read(ends[0], 0, place(16, 5000)), 0);
  EXPECT_EQ(errno, 99);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(RealignedReadsTest, NeverReadsWhereItIsForbidden) {
  RealignedReads never(UseSetting::never);
  EXPECT_EQ(never.read(file_, 0, place(16, kSize)), 0);
  EXPECT_FALSE(never.has_read());
  EXPECT_FALSE(always_.has_read());
  EXPECT_EQ(always_.read(file_, 0, place(16, kSize)), kSize);
  EXPECT_TRUE(always_.has_read());
}

TEST_F(RealignedReadsTest, MeasuresBeforeItReads) {
  RealignedReads automatic(UseSetting::automatic);
  const iovec segment = place(16, kSize);
  ByteCount moved = 0;
  for (int i = 0; i < 8; ++i) {
    moved = automatic.read(file_, 0, segment);
    if (i == 0) {
      EXPECT_EQ(moved, 0);  // too few bytes to be worth the measuring
    }
    EXPECT_TRUE(moved == 0 || moved == kSize);
    EXPECT_TRUE(holds(segment, 0, moved));
    if (moved > 0) break;
  }
}

TEST(KernelCopyTest, IsMeasured) {
  const CopyTimes times = measure_copies();
  EXPECT_GT(times.well_placed, 0);
  EXPECT_GT(times.misplaced, 0);
  EXPECT_GT(times.again, 0);
}

TEST(KernelCopyTest, ASecondCopyPaysWhereItCostsLessThanTheBadPlace) {
  EXPECT_FALSE(is_worth_a_copy({}));
  EXPECT_FALSE(is_worth_a_copy({1000, 1000, 300}));
  EXPECT_FALSE(is_worth_a_copy({1000, 1450, 300}));
  EXPECT_TRUE(is_worth_a_copy({1000, 1451, 300}));
  EXPECT_TRUE(is_worth_a_copy({4300, 8600, 800}));
}

}  // namespace
}  // namespace headrace::storage
