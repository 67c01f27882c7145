#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "file/hint_file.h"
#include "file/hints.h"

namespace headrace::file {
namespace {

/// Those for all files.
Hints hints_of(const HintFile& file) {
  return file.hints.empty() ? Hints() : file.hints.front().hints;
}

TEST(HintFile, IsReadAsRomioReadsIt) {
  const HintFile file = parse_hint_file(
      "# a comment, with words\n"
      "cb_nodes 32\n"
      "\n"
      "  cb_config_list\t n01,n11 \r\n"
      "cb_nodes 16\n"
      "romio_cb_write enable",
      "f");
  EXPECT_EQ(
      hints_of(file),
      (Hints{{"cb_nodes", "32"}, {"cb_config_list", "n01,n11"}, {"romio_cb_write", "enable"}}));
  EXPECT_TRUE(file.problems.empty());
}

TEST(HintFile, TellsOfLinesThatAreNoHint) {
  const HintFile one = parse_hint_file("cb_nodes 4\nnonsense\n", "f");
  EXPECT_EQ(hints_of(one), (Hints{{"cb_nodes", "4"}}));
  ASSERT_EQ(one.problems.size(), 1U);
  EXPECT_EQ(one.problems[0],
            "line 2 of 'f' is ignored (a hint is one name and one value), write NAME VALUE");
  const HintFile more = parse_hint_file("cb_nodes = 4\n # not at the line's begin\n", "f");
  EXPECT_TRUE(more.hints.empty());
  ASSERT_EQ(more.problems.size(), 1U);
  EXPECT_NE(more.problems[0].find("line 1 and 1 more line of 'f' are"), std::string::npos);
}

TEST(HintFile, IsTomlIfItBeginsWithATable) {
  const HintFile file = parse_hint_file(
      "# of a site\n\n"
      "  [hints]\n"
      "cb_nodes = 8\n"
      "[hints.\"*.h5\"] # a pattern\n"
      "romio_cb_write = \"enable\"\n"
      "cb_config_list = 'n1:2,n2:1'\n"
      "collective_buffering = true\n",
      "f");
  EXPECT_TRUE(file.problems.empty()) << file.problems.front();
  ASSERT_EQ(file.hints.size(), 2U);
  EXPECT_EQ(file.hints[0].pattern, "");
  EXPECT_EQ(file.hints[0].hints, (Hints{{"cb_nodes", "8"}}));
  EXPECT_EQ(file.hints[1].pattern, "*.h5");
  EXPECT_EQ(file.hints[1].hints, (Hints{{"cb_config_list", "n1:2,n2:1"},
                                        {"collective_buffering", "true"},
                                        {"romio_cb_write", "enable"}}));
  // A comment alone, or a name first, is ROMIO's form.
  EXPECT_FALSE(is_toml("# [hints]\ncb_nodes 8\n"));
  EXPECT_FALSE(is_toml(""));
}

TEST(HintFile, OfTomlHonoursTheLinesThatAreGood) {
  const HintFile file = parse_hint_file(
      "[hints]\ncb_nodes = 8\ncb_align = [1]\n[settings]\nquiet = true\n[other]\na = 1\n", "f");
  EXPECT_EQ(hints_of(file), (Hints{{"cb_nodes", "8"}}));
  ASSERT_EQ(file.problems.size(), 2U);
  EXPECT_EQ(file.problems[0],
            "'f' line 3 is ignored (its value is no text in quotes, whole number, true or false), "
            "write it in quotes");
  EXPECT_NE(file.problems[1].find("no table 'other'"), std::string::npos) << file.problems[1];
  EXPECT_EQ(file.settings, std::vector<std::string>{"HEADRACE_QUIET"});
}

TEST(HintFile, OfTomlDoesNotTakeTheLinesOfATextForKeys) {
  const HintFile file = parse_hint_file(
      "[hints]\ncb_nodes = 8\nx = \"\"\"a\ncb_align = 1\n\"\"\"\n[hints]\ncb_align = 2\n", "f");
  EXPECT_EQ(hints_of(file), (Hints{{"cb_nodes", "8"}}));
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_NE(file.problems[0].find("'f' line 3 is ignored (texts and lists of several lines"),
            std::string::npos);
  const HintFile twice = parse_hint_file("[hints]\ncb_nodes = 8\n[hints]\ncb_align = 2\n", "f");
  EXPECT_EQ(hints_of(twice), (Hints{{"cb_nodes", "8"}}));
  EXPECT_EQ(twice.problems.size(), 1U);
}

TEST(HintFile, TooLongGivesNoHints) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("headrace-hint-file-long-" + std::to_string(getpid()));
  std::ofstream(path) << std::string(65530, '#') << "\ncb_nodes 16\n";
  const HintFile file = read_hint_file(path, true);
  std::filesystem::remove(path);
  EXPECT_TRUE(hints_of(file).empty());
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_NE(file.problems[0].find("more than 64 KiB"), std::string::npos);
}

TEST(HintFile, NeedNotBeThereUnlessSomebodyNamedIt) {
  EXPECT_TRUE(read_hint_file("/no/such/file", false).problems.empty());
  const HintFile named = read_hint_file("/no/such/file", true);
  ASSERT_EQ(named.problems.size(), 1U);
  EXPECT_NE(named.problems[0].find("'/no/such/file' gives no hints"), std::string::npos);
  // Not a file.
  EXPECT_FALSE(read_hint_file("/", false).problems.empty());
}

TEST(HintFile, IsReadFromDisk) {
  const auto path =
      std::filesystem::temp_directory_path() / ("headrace-hint-file-" + std::to_string(getpid()));
  std::ofstream(path) << "cb_nodes 2\n";
  const HintFile file = read_hint_file(path, true);
  std::filesystem::remove(path);
  EXPECT_EQ(hints_of(file), (Hints{{"cb_nodes", "2"}}));
  EXPECT_TRUE(file.problems.empty());
}

}  // namespace
}  // namespace headrace::file
