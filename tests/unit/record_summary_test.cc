#include <gtest/gtest.h>

#include <algorithm>

#include "record/summary.h"

namespace headrace::record {
namespace {

constexpr ByteCount kMiB = 1 << 20;

Decision write_of(const std::string& file, const char* choice, const char* reason) {
  return {"collective writes to '" + file + "'", choice, reason, ""};
}

/// One test: what is recorded belongs to the process.
TEST(Summary, TellsOfAllFilesInAFewLines) {
  EXPECT_TRUE(summary().empty()) << "nothing happened, nothing to say";
  add_file({"small", {kMiB, 0, 0, 0, 1}, write_of("small", "direct", "because"), {}});
  ASSERT_EQ(summary().size(), 3U);
  EXPECT_EQ(summary()[0], "rank 0 opened 1 file, wrote 1.0 MiB (0 % by collective buffering)");
  EXPECT_EQ(summary()[1], "collective writes to 'small': direct, because");
  EXPECT_EQ(summary()[2].find("1 call failed"), 0U);

  add_file({"large",
            {0, 3 * kMiB, 0, 4 * kMiB, 1},
            write_of("large", "staged", "small"),
            {"collective reads from 'large'", "staged", "too", ""},
            "in turn"});
  const std::vector<std::string> lines = summary();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(
      lines[0],
      "rank 0 opened 2 files, wrote 4.0 MiB (75 % by collective buffering), read 4.0 MiB (100 % by "
      "collective buffering)");
  EXPECT_EQ(lines[1], "collective writes to 'large': staged, small");
  EXPECT_EQ(lines[2], "collective reads from 'large': staged, too");
  EXPECT_EQ(lines[3], "calls on 'large': in turn");
  EXPECT_EQ(lines[4].find("2 calls failed"), 0U);
}

TEST(Summary, TellsTheMostMemoryOfAnyRankAndFile) {
  FileRecord file{"one", {kMiB, 0, 0, 0, 0}, {"", "direct", "because", ""}, {}};
  file.memory = {2 * kMiB, 3 * kMiB, 0, 0, 0};
  add_file(file);
  file.memory = {kMiB, 4 * kMiB, kMiB, 5 * kMiB, 0};
  add_file(file);
  EXPECT_EQ(
      memory_summary(),
      "most memory at a time: 2.0 MiB of a node for collective buffers; of a rank 4.0 MiB for "
      "lists of pieces, 1.0 MiB for converted data, 5.0 MiB for sieving");
  file.memory[static_cast<std::size_t>(MemoryUse::converted_whole)] = 6 * kMiB;
  add_file(file);
  EXPECT_NE(memory_summary().find("for sieving, 6.0 MiB for data of nonblocking"),
            std::string::npos);
}

TEST(Summary, TellsOfVerifiedWrites) {
  FileRecord file{"verified", {kMiB, 0, 0, 0, 0}, {"", "direct", "because", ""}, {}};
  file.read = {"collective reads", "staged", "too", ""};
  file.store_choices = "in turn";
  file.totals.failed_calls = 1;
  file.verified = {250'000'000, 750'000'000, 4 * kMiB, kMiB, 1, 2, {}};
  file.verified->unverified = {{{0, kMiB}, {1, 0}, {0, 0}, {2, 2 * kMiB}}};
  add_file(file);
  const std::vector<std::string> lines = summary();
  EXPECT_EQ(lines.size(), 6U) << "as many as there can be";
  EXPECT_NE(std::ranges::find(
                lines,
                "collective writes were verified: 3.0 MiB read back by other ranks "
                "in 0.250 s (25 % of the time in I/O), 1.0 MiB of atomic calls by "
                "the rank that wrote them, while it held its lock, 2 ranges were NOT what was "
                "written (each is an MPI error of its rank), 1 byte was not compared "
                "(several ranks wrote them in one call); NOT verified: 1.0 MiB "
                "(independent writes, use collective ones), 0 B by 1 call (the "
                "file cannot be opened for reading, allow that or open it with "
                "MPI_MODE_RDWR), 2.0 MiB by 2 calls (no memory is left for "
                "nonblocking and split calls, raise HEADRACE_NODE_MEMORY)"),
            lines.end());
}

}  // namespace
}  // namespace headrace::record
