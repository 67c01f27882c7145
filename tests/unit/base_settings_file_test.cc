#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/settings.h"
#include "base/settings_file.h"

namespace headrace {
namespace {

TEST(SettingsFile, HasSettingsAndHints) {
  const SettingsFile file = parse_settings_file(
      "[settings]\nquiet = true\nHEADRACE_BUFFER_SIZE = '1m'\n"
      "[hints]\ncb_nodes = 4\n[hints.'*.h5']\ncb_nodes = 8\n",
      "f");
  EXPECT_TRUE(file.problems.empty());
  EXPECT_EQ(file.settings, (std::vector<std::pair<std::string, std::string>>{
                               {"HEADRACE_QUIET", "true"}, {"HEADRACE_BUFFER_SIZE", "1m"}}));
  ASSERT_EQ(file.hints.size(), 2U);
  EXPECT_EQ(file.hints[0].pattern, "");
  EXPECT_EQ(file.hints[1].pattern, "*.h5");
  EXPECT_EQ(file.hints[1].hints.at("cb_nodes"), "8");
}

TEST(SettingsFile, LeavesSuggestionsToTheCommand) {
  const SettingsFile file =
      parse_settings_file("[headrace]\nquiet = 1\n[environment]\nA = 1\n[hints]\nb = 1\n", "f");
  EXPECT_TRUE(file.suggests);
  EXPECT_TRUE(file.problems.empty() && file.settings.empty());
  EXPECT_EQ(file.hints.size(), 1U);
}

TEST(SettingsFile, NamesWhatItLeavesOut) {
  const SettingsFile file =
      parse_settings_file("a = 1\n[other]\nb = 1\nc = 1\n[hints]\nd = 1.5\ne = 1\n", "f");
  ASSERT_EQ(file.problems.size(), 3U);
  EXPECT_EQ(file.problems[0],
            "'f' line 6 is ignored (its value is no text in quotes, whole number, true or false), "
            "write it in quotes");
  EXPECT_NE(file.problems[1].find("it stands in no table"), std::string::npos);
  EXPECT_NE(file.problems[2].find("no table 'other' is read"), std::string::npos);
  EXPECT_EQ(file.hints.at(0).hints.count("e"), 1U);
}

TEST(SettingsFile, CountsTheFaultsBeyondTwenty) {
  std::string text = "[settings]\n";
  for (int i = 0; i < 21; ++i) text += "x\n";
  SettingsFile file = parse_settings_file(text, "f");
  ASSERT_EQ(file.problems.size(), 21U);
  EXPECT_EQ(file.problems.back(), "'f' has 1 more such line, mend those above first");
  file = parse_settings_file(text + "x\nx\n", "f");
  EXPECT_EQ(file.problems.back(), "'f' has 3 more such lines, mend those above first");
}

class TrustedFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    std::ofstream(path_) << "[settings]\nquiet = 1\n";
    ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Why the file is not used; "" if it is.
  std::string problem() const {
    const SettingsFile file = read_settings_file(path_, false);
    EXPECT_EQ(file.settings.empty(), !file.problems.empty());
    return file.problems.empty() ? "" : file.problems.front();
  }

  const std::string folder_ = std::filesystem::temp_directory_path() /
                              ("headrace-settings-file-" + std::to_string(getpid()));
  const std::string path_ = folder_ + "/a.toml";
};

TEST_F(TrustedFile, IsWrittenByNobodyElse) {
  EXPECT_EQ(problem(), "");
  ASSERT_EQ(chmod(path_.c_str(), 0664), 0);
  EXPECT_EQ(problem(), "'" + path_ +
                           "' is ignored (others may write to it), give a file that you can read "
                           "and others cannot write");
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(problem(), "");
}

TEST_F(TrustedFile, SuggestsNothing) {
  std::ofstream(path_) << "[headrace]\nquiet = 1\n[settings]\nquiet = 0\n";
  const SettingsFile file = read_settings_file(path_, false);
  EXPECT_EQ(file.settings.size(), 1U);
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_NE(file.problems[0].find("only files of --settings suggest"), std::string::npos);
}

TEST_F(TrustedFile, LiesWhereNobodyElseCanReplaceIt) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_NE(problem().find("others may write to its directory"), std::string::npos);
  ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
  EXPECT_EQ(problem(), "");
}

TEST_F(TrustedFile, BelongsToNoOtherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_NE(problem().find("it belongs to another user"), std::string::npos);
}

TEST_F(TrustedFile, IsAFileOfFewBytes) {
  std::filesystem::remove(path_);
  EXPECT_TRUE(read_settings_file(path_, false).problems.empty());
  EXPECT_EQ(read_settings_file(path_, true).problems.size(), 1U);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(read_settings_file(path_, false).problems.at(0).find("it is no file"),
            std::string::npos);
  std::filesystem::remove(path_);
  std::ofstream(path_) << std::string(1 << 20, '#');
  EXPECT_NE(read_settings_file(path_, false).problems.at(0).find("more than 64 KiB"),
            std::string::npos);
  EXPECT_TRUE(read_settings_file("/dev/null", true).problems.empty());
}

TEST(SettingLayers, CountBelowTheEnvironment) {
  const char* const environment[] = {"HEADRACE_BUFFER_COUNT=7", "HEADRACE_CB_ALIGN=9", nullptr};
  std::vector<std::string> problems;
  const Settings read = read_settings(
      environment, problems,
      {{Origin::site,
        " ('s')",
        {{"HEADRACE_BUFFER_COUNT", "3"}, {"HEADRACE_CB_ALIGN", "1"}, {"HEADRACE_QUIET", "1"}}},
       {Origin::user, " ('u')", {{"HEADRACE_BUFFER_COUNT", "5"}, {"HEADRACE_QUIT", "0"}}}});
  EXPECT_EQ(read.buffer_count, 7);
  EXPECT_EQ(read.origin_of("HEADRACE_BUFFER_COUNT"), Origin::environment);
  EXPECT_EQ(read.cb_align, 1);
  EXPECT_EQ(read.origin_of("HEADRACE_CB_ALIGN"), Origin::site);
  EXPECT_TRUE(read.quiet);
  EXPECT_EQ(read.origin_of("HEADRACE_VERIFY"), Origin::fallback);
  EXPECT_EQ(read.given.size(), 3U);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0],
            "HEADRACE_QUIT is ignored (no setting has this name), did you mean HEADRACE_QUIET? "
            "('u')");
  EXPECT_TRUE(problems[1].ends_with("it is ignored")) << problems[1];
}

}  // namespace
}  // namespace headrace
