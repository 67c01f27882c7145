#include <gtest/gtest.h>

#include "base/settings.h"

namespace headrace {
namespace {

struct Read {
  Settings settings;
  std::vector<std::string> problems;
};

Read read(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  Read result;
  result.settings = read_settings(environment.data(), result.problems);
  return result;
}

TEST(Settings, AreTheDefaultsInAnEmptyEnvironment) {
  const Read result = read({"PATH=/bin", "HEADRACES=1"});
  EXPECT_TRUE(result.problems.empty());
  EXPECT_FALSE(result.settings.disable);
  EXPECT_EQ(result.settings.buffer_size, 256 << 10);
  EXPECT_EQ(result.settings.write_path, PathSetting::automatic);
}

TEST(Settings, AreReadByType) {
  const Read result =
      read({"HEADRACE_DISABLE=yes", "HEADRACE_SUMMARY=Off", "HEADRACE_BUFFER_SIZE=2MiB",
            "HEADRACE_BUFFER_COUNT=4", "HEADRACE_WRITE_PATH=staged", "HEADRACE_NODE_MEMORY=3g"});
  EXPECT_TRUE(result.problems.empty()) << result.problems.front();
  EXPECT_TRUE(result.settings.disable);
  EXPECT_FALSE(result.settings.summary);
  EXPECT_EQ(result.settings.buffer_size, 2 << 20);
  EXPECT_EQ(result.settings.buffer_count, 4);
  EXPECT_EQ(result.settings.write_path, PathSetting::staged);
  EXPECT_EQ(result.settings.node_memory, ByteCount{3} << 30);
}

TEST(Settings, AnEmptyValueIsTheDefault) {
  const Read result = read({"HEADRACE_BUFFER_SIZE=", "HEADRACE_LIBRARY="});
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ(result.settings.buffer_size, 256 << 10);
}

struct BadValue {
  const char* variable;
  const char* problem;  ///< part of the line
};

class BadValues : public testing::TestWithParam<BadValue> {};

TEST_P(BadValues, GiveOneLineAndTheDefault) {
  const Read result = read({GetParam().variable});
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_NE(result.problems[0].find(GetParam().problem), std::string::npos) << result.problems[0];
  EXPECT_EQ(result.settings.buffer_size, 256 << 10);
  EXPECT_EQ(result.settings.buffer_count, Settings{}.buffer_count);
  EXPECT_EQ(result.settings.read_path, PathSetting::automatic);
  EXPECT_FALSE(result.settings.quiet);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, BadValues,
    testing::Values(BadValue{"HEADRACE_BUFFER_SIZE=x", "HEADRACE_BUFFER_SIZE='x' is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1x", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1kk", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=-1m", "is out of range (64k to 256m)"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1k",
                             "is out of range (64k to 256m), the default 256k is used"},
                    BadValue{"HEADRACE_BUFFER_SIZE=9223372036854775807g", "is out of range"},
                    BadValue{"HEADRACE_BUFFER_SIZE=99999999999999999999", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_COUNT=3.5", "is not a whole number"},
                    BadValue{"HEADRACE_BUFFER_COUNT=1", "is out of range (2 to "},
                    BadValue{"HEADRACE_READ_PATH=fast",
                             "is not known (write automatic, direct, staged or exchanged)"},
                    BadValue{"HEADRACE_QUIET=maybe", "is neither yes nor no"},
                    BadValue{"HEADRACE_BUFER_SIZE=1m", "did you mean HEADRACE_BUFFER_SIZE?"},
                    BadValue{"HEADRACE_SOMETHING_ELSE=1", "no setting has this name"}));

}  // namespace
}  // namespace headrace
