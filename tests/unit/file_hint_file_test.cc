#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "file/hint_file.h"

namespace headrace::file {
namespace {

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
      file.hints,
      (Hints{{"cb_nodes", "32"}, {"cb_config_list", "n01,n11"}, {"romio_cb_write", "enable"}}));
  EXPECT_EQ(file.problem, "");
}

TEST(HintFile, TellsOfLinesThatAreNoHint) {
  const HintFile one = parse_hint_file("cb_nodes 4\nnonsense\n", "f");
  EXPECT_EQ(one.hints, (Hints{{"cb_nodes", "4"}}));
  EXPECT_EQ(one.problem,
            "line 2 of 'f' is ignored (a hint is one name and one value), write NAME VALUE");
  const HintFile more = parse_hint_file("cb_nodes = 4\n # not at the line's begin\n", "f");
  EXPECT_TRUE(more.hints.empty());
  EXPECT_NE(more.problem.find("line 1 of 'f' and 1 more"), std::string::npos) << more.problem;
}

TEST(HintFile, NeedNotBeThereUnlessSomebodyNamedIt) {
  EXPECT_EQ(read_hint_file("/no/such/file", false).problem, "");
  const HintFile named = read_hint_file("/no/such/file", true);
  EXPECT_NE(named.problem.find("'/no/such/file' gives no hints"), std::string::npos);
  // Not a file.
  EXPECT_NE(read_hint_file("/", false).problem, "");
}

TEST(HintFile, IsReadFromDisk) {
  const auto path =
      std::filesystem::temp_directory_path() / ("headrace-hint-file-" + std::to_string(getpid()));
  std::ofstream(path) << "cb_nodes 2\n";
  const HintFile file = read_hint_file(path, true);
  std::filesystem::remove(path);
  EXPECT_EQ(file.hints, (Hints{{"cb_nodes", "2"}}));
  EXPECT_EQ(file.problem, "");
}

}  // namespace
}  // namespace headrace::file
