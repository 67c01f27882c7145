#include <gtest/gtest.h>

#include "record/summary.h"

namespace headrace::record {
namespace {

constexpr ByteCount kMiB = 1 << 20;

/// One test: what is recorded belongs to the process.
TEST(Summary, TellsOfAllFilesInAFewLines) {
  EXPECT_TRUE(summary().empty()) << "nothing happened, nothing to say";
  add_file({"small", {kMiB, 0, 0, 0, 0}, "direct, because", ""});
  ASSERT_EQ(summary().size(), 2U);
  EXPECT_EQ(summary()[0], "rank 0 opened 1 file, wrote 1.0 MiB (0 % by collective buffering)");
  EXPECT_EQ(summary()[1], "collective writes to 'small': direct, because");

  add_file({"large", {0, 3 * kMiB, 0, 4 * kMiB, 2}, "staged, small", "staged, too"});
  const std::vector<std::string> lines = summary();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(
      lines[0],
      "rank 0 opened 2 files, wrote 4.0 MiB (75 % by collective buffering), read 4.0 MiB (100 % by "
      "collective buffering)");
  EXPECT_EQ(lines[1], "collective writes to 'large': staged, small");
  EXPECT_EQ(lines[2], "collective reads from 'large': staged, too");
  EXPECT_EQ(lines[3].find("2 calls failed"), 0U);
}

}  // namespace
}  // namespace headrace::record
