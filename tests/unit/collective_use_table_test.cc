// A table of where operations are carried out, and what of it cannot be used.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "collective/use_table.h"

namespace headrace::collective {
namespace {

TEST(UseTable, HasRangesByLibraryNodesAndOperation) {
  const UseTable table = read_use_table(
      "[origin]\nmachine = \"here\"\n"
      "[mpich.one]\nallreduce = \"1-512 1.5, 4096-1048576 1.25\"\nbarrier = \"0-0 2\"\n"
      "[openmpi.several]\nallgather = \"8-8 1.01\"\n"
      "[intel.several.16x64]\nbcast = \"8-8 1.5\"\n"
      "[mpich.one.8]\nbcast = \"8-8 1.5\"\n"
      "[openmpi.one.4.crowded]\nbcast = \"8-8 1.5\"\n"
      "[openmpi.several.4x2.crowded]\nbcast = \"8-8 1.5\"\n"
      "[openmpi.one.crowded]\nbcast = \"8-8 1.5\"\n");
  EXPECT_TRUE(table.problems.empty()) << table.problems[0];
  ASSERT_EQ(table.uses.size(), 9U);
  EXPECT_EQ(table.uses[0].library, Library::mpich);
  EXPECT_EQ(table.uses[0].operation, Operation::allreduce);
  EXPECT_EQ(table.uses[0].nodes, kOneNode);
  EXPECT_EQ(table.uses[0].least, 1U);
  EXPECT_EQ(table.uses[0].most, 512U);
  EXPECT_EQ(table.uses[0].gain, 1.5);
  EXPECT_EQ(table.uses[1].most, 1048576U);
  EXPECT_EQ(table.uses[2].operation, Operation::barrier);
  EXPECT_EQ(table.uses[3].library, Library::openmpi);
  EXPECT_EQ(table.uses[3].nodes, kSeveralNodes);
  EXPECT_EQ(table.uses[4].library, Library::intel);
  EXPECT_EQ(table.uses[4].nodes, (MeasuredNodes{16, 64}));
  EXPECT_EQ(table.uses[5].nodes, (MeasuredNodes{1, 8}));
  EXPECT_EQ(table.uses[6].nodes, (MeasuredNodes{1, 4, true}));
  EXPECT_EQ(table.uses[7].nodes, (MeasuredNodes{4, 2, true}));
  EXPECT_EQ(table.uses[8].nodes, (MeasuredNodes{1, 0, true}));
}

TEST(UseTable, LeavesTheLibrarysOwnAlgorithmsAlone) {
  const UseTable table = read_use_table(
      "[mpich.one]\nbarrier = \"0-0 2\"\n"
      "[mpich.one.library.2]\nversion = \"5.0.2\"\nallgather = \"ring 0-0 1.2\"\n"
      "[intel.one.library.4]\nbcast = \"preset_3 1-8 1.5\"\n");
  EXPECT_TRUE(table.problems.empty()) << table.problems[0];
  ASSERT_EQ(table.uses.size(), 1U);
  EXPECT_EQ(table.uses[0].operation, Operation::barrier);
}

TEST(UseTable, LeavesOutWhatIsNoneAndSaysSo) {
  for (const char* const bad : {"[mpich.one]\nbcats = \"1-2 1.5\"",
                                "[mpich]\nbcast = \"1-2 1.5\"",
                                "bcast = \"1-2 1.5\"",
                                "[other.one]\nbcast = \"1-2 1.5\"",
                                "[mpich.two]\nbcast = \"1-2 1.5\"",
                                "[mpich.one]\nbcast = \"2-1 1.5\"",
                                "[mpich.one]\nbcast = \"1-2 1\"",
                                "[mpich.one]\nbcast = \"1-2 nan\"",
                                "[mpich.one]\nbcast = \"1-2 inf\"",
                                "[mpich.one]\nbcast = \"-1-2 1.5\"",
                                "[mpich.one]\nbcast = \"1-2\"",
                                "[mpich.one]\nbcast = \"1-2 1.5,3-4 1.5\"",
                                "[mpich.one]\nbcast = \"1-2 1.5, \"",
                                "[mpich.one]\nbcast = \"1-99999999999999999999 1.5\"",
                                "[mpich.one]\nbcast = 3",
                                "[mpich.one]\nbcast = \"\"",
                                "[mpich.one]\nbcast = [1]",
                                "[mpich.several.4]\nbcast = \"1-2 1.5\"",
                                "[mpich.several.1x8]\nbcast = \"1-2 1.5\"",
                                "[mpich.several.4x0]\nbcast = \"1-2 1.5\"",
                                "[mpich.one.4x2]\nbcast = \"1-2 1.5\"",
                                "[mpich.one.1]\nbcast = \"1-2 1.5\"",
                                "[mpich.one.crowded.4]\nbcast = \"1-2 1.5\"",
                                "[mpich.crowded]\nbcast = \"1-2 1.5\"",
                                "[mpich.several.4.crowded]\nbcast = \"1-2 1.5\"",
                                "[mpich.several.4x2.more]\nbcast = \"1-2 1.5\"",
                                "[mpich.several.\"4 nodes\"]\nbcast = \"1-2 1.5\"",
                                "[mpich.one.other.2]\nbcast = \"1-2 1.5\"",
                                "[mpich.library]\nbcast = \"1-2 1.5\""}) {
    const UseTable table =
        read_use_table(std::string(bad) + "\n[intel.one]\nbarrier = \"0-0 2\"\n");
    ASSERT_EQ(table.uses.size(), 1U) << bad;
    EXPECT_EQ(table.uses[0].library, Library::intel) << bad;
    ASSERT_EQ(table.problems.size(), 1U) << bad;
    EXPECT_EQ(table.problems[0].find("line "), 0U) << table.problems[0];
    EXPECT_NE(table.problems[0].find("write "), std::string::npos) << table.problems[0];
  }
}

/// Whatever it is, it ends, and what is used is a range.
TEST(UseTable, ReadsAnyText) {
  const std::string good = "[mpich.one]\nallreduce = \"1-512 1.5, 4096-1048576 1.25\"\n";
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int change = 0; change < 4; ++change) {
      text[random() % text.size()] =
          static_cast<char>(random() % 3 == 0 ? random() : '0' + random() % 10);
    }
    for (const Use& use : read_use_table(text).uses) {
      EXPECT_LE(use.least, use.most);
      EXPECT_GT(use.gain, 1);
    }
  }
}

}  // namespace
}  // namespace headrace::collective
