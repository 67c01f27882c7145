#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

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
  EXPECT_EQ(result.settings.buffer_size, 0);
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

TEST(Settings, HaveAliasesThatOurOwnNamesOverrule) {
  EXPECT_EQ(read({}).settings.cb_align, 2);
  EXPECT_EQ(read({"MPICH_MPIIO_CB_ALIGN=0"}).settings.cb_align, 0);
  EXPECT_EQ(read({"HEADRACE_CB_ALIGN=1", "MPICH_MPIIO_CB_ALIGN=0"}).settings.cb_align, 1);
  EXPECT_EQ(read({"MPICH_MPIIO_CB_ALIGN=0", "HEADRACE_CB_ALIGN=1"}).settings.cb_align, 1);
  const Read bad = read({"MPICH_MPIIO_CB_ALIGN=3"});
  ASSERT_EQ(bad.problems.size(), 1u);
  EXPECT_EQ(bad.problems[0],
            "MPICH_MPIIO_CB_ALIGN='3' is out of range (0 to 2), the default 2 is used");
}

TEST(Settings, NamesHaveCommasBetweenThem) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read({"HEADRACE_COHERENT_FS=nfs"}).settings.coherent_fs, Names{"nfs"});
  EXPECT_EQ(read({"HEADRACE_COHERENT_FS=nfs,daos"}).settings.coherent_fs, (Names{"nfs", "daos"}));
  EXPECT_EQ(read({"HEADRACE_COHERENT_FS=NFS,BeeGFS"}).settings.coherent_fs,
            (Names{"nfs", "beegfs"}));
  EXPECT_EQ(read({"HEADRACE_COHERENT_FS=none"}).settings.coherent_fs, Names{});
  EXPECT_EQ(read({"HEADRACE_DISABLE_FOR= old solver , *.test\t"}).settings.disable_for,
            (Names{"old solver", "*.test"}));
  for (const char* bad : {",", "nfs,", ",nfs", "nfs,,daos", " ", "nfs, ", "nfs,\t,daos"}) {
    const std::string variable = std::string("HEADRACE_COHERENT_FS=") + bad;
    const Read result = read({variable.c_str()});
    EXPECT_EQ(result.problems.size(), 1u) << bad;
    EXPECT_EQ(result.settings.coherent_fs, Names{}) << bad;
  }
}

TEST(Settings, StripesAreAPair) {
  EXPECT_EQ(read({"HEADRACE_MIMIC_STRIPES=4x1m"}).settings.mimic_stripes, (Stripes{1 << 20, 4}));
  EXPECT_EQ(read({"HEADRACE_MIMIC_STRIPES=none"}).settings.mimic_stripes, Stripes{});
  for (const char* bad : {"4", "x4k", "4x", "0x4k", "4x1000", "4x2g", "-1x4k", "99999x4k"}) {
    const std::string variable = std::string("HEADRACE_MIMIC_STRIPES=") + bad;
    const Read result = read({variable.c_str()});
    EXPECT_EQ(result.problems.size(), 1u) << bad;
    EXPECT_EQ(result.settings.mimic_stripes, Stripes{}) << bad;
  }
}

TEST(Settings, TheDefaultMayBeGiven) {
  const Read result = read({"HEADRACE_BUFFER_SIZE=0", "MPICH_MPIIO_CB_ALIGN=2"});
  EXPECT_TRUE(result.problems.empty());
  EXPECT_TRUE(result.settings.gives("HEADRACE_BUFFER_SIZE"));
  EXPECT_TRUE(result.settings.gives("HEADRACE_CB_ALIGN"));
  EXPECT_FALSE(result.settings.gives("HEADRACE_WRITE_PATH"));
  EXPECT_FALSE(read({"HEADRACE_CB_ALIGN=3"}).settings.gives("HEADRACE_CB_ALIGN"));
}

TEST(Settings, AnEmptyValueIsTheDefault) {
  const Read result = read({"HEADRACE_BUFFER_SIZE=", "HEADRACE_LIBRARY="});
  EXPECT_TRUE(result.problems.empty());
  EXPECT_FALSE(result.settings.gives("HEADRACE_BUFFER_SIZE"));
  EXPECT_EQ(result.settings.buffer_size, 0);
}

TEST(Settings, AnEmptyValueHidesWhatIsBelow) {
  const Read aliased = read({"HEADRACE_IOBUF=", "IOBUF_PARAMS=*.out"});
  EXPECT_EQ(aliased.settings.iobuf, "");
  EXPECT_FALSE(aliased.settings.gives("HEADRACE_IOBUF"));
  EXPECT_EQ(read({"IOBUF_PARAMS=*.out", "HEADRACE_IOBUF="}).settings.iobuf, "");

  const char* const environment[] = {"HEADRACE_QUIET=", nullptr};
  std::vector<std::string> problems;
  const SettingLayer site = {
      Origin::site,
      "",
      {{"HEADRACE_QUIET", "1"}, {"HEADRACE_VERIFY", "1"}, {"HEADRACE_IOBUF", "*"}}};
  const SettingLayer user = {Origin::user, "", {{"HEADRACE_VERIFY", ""}}};
  const Settings layered = read_settings(environment, problems, {site, user});
  EXPECT_FALSE(layered.quiet) << "the environment hides the site's";
  EXPECT_FALSE(layered.verify) << "the user's file hides the site's";
  EXPECT_EQ(layered.iobuf, "*");
  EXPECT_EQ(layered.given.size(), 1U);
  EXPECT_TRUE(problems.empty());
}

TEST(Settings, AnEmptyVariableOfAnotherToolkitIsNotThere) {
  const char* const environment[] = {"IOBUF_PARAMS=", nullptr};
  std::vector<std::string> problems;
  const SettingLayer site = {Origin::site, "", {{"HEADRACE_IOBUF", "*.out"}}};
  const Settings found = read_settings(environment, problems, {site});
  EXPECT_EQ(found.iobuf, "*.out");
  EXPECT_EQ(found.origin_of("HEADRACE_IOBUF"), Origin::site);
}

TEST(Settings, ABadValueLeavesWhatIsBelow) {
  for (const char* const bad :
       {"HEADRACE_RECORD=x", "HEADRACE_QUIET=x", "HEADRACE_BUFFER_SIZE=x"}) {
    const char* const environment[] = {bad, nullptr};
    std::vector<std::string> problems;
    const SettingLayer site = {
        Origin::site,
        "",
        {{"HEADRACE_RECORD", "0"}, {"HEADRACE_QUIET", "1"}, {"HEADRACE_BUFFER_SIZE", "1m"}}};
    const Settings found = read_settings(environment, problems, {site});
    EXPECT_FALSE(found.record) << bad;
    EXPECT_TRUE(found.quiet) << bad;
    EXPECT_EQ(found.buffer_size, 1 << 20) << bad;
    EXPECT_EQ(problems.size(), 1U) << bad;
  }
  EXPECT_TRUE(read({"HEADRACE_RECORD=auto"}).settings.record);
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
  EXPECT_EQ(result.settings.buffer_size, 0);
  EXPECT_EQ(result.settings.buffer_count, Settings{}.buffer_count);
  EXPECT_EQ(result.settings.read_path, PathSetting::automatic);
  EXPECT_FALSE(result.settings.quiet);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, BadValues,
    testing::Values(BadValue{"HEADRACE_BUFFER_SIZE=x", "HEADRACE_BUFFER_SIZE='x' is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1x", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1kk", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_SIZE=-1m", "is out of range (64k to 1g)"},
                    BadValue{"HEADRACE_BUFFER_SIZE=1k",
                             "is out of range (64k to 1g), the default 0 is used"},
                    BadValue{"HEADRACE_BUFFER_SIZE=9223372036854775807g", "is out of range"},
                    BadValue{"HEADRACE_BUFFER_SIZE=99999999999999999999", "is not a size"},
                    BadValue{"HEADRACE_BUFFER_COUNT=3.5", "is not a whole number"},
                    BadValue{"HEADRACE_BUFFER_COUNT=65", "is out of range (0 to "},
                    BadValue{"HEADRACE_READ_PATH=fast",
                             "is not known (write automatic, direct, staged or exchanged)"},
                    BadValue{"HEADRACE_QUIET=maybe", "is neither yes nor no"},
                    BadValue{"HEADRACE_BUFER_SIZE=1m", "did you mean HEADRACE_BUFFER_SIZE?"},
                    BadValue{"HEADRACE_SOMETHING_ELSE=1", "no setting has this name"}));

TEST(Settings, KeepsWhatItSaysOfTheEnvironmentShort) {
  const std::string huge = "HEADRACE_QUIET=\x1b[2J" + std::string(1'000'000, 'x');
  const std::string name = "HEADRACE_" + std::string(1'000'000, 'Y') + "=1";
  std::vector<std::string> entries{huge, name};
  for (int i = 0; i < 1000; ++i) entries.push_back("HEADRACE_NO" + std::to_string(i) + "=1");
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back("HEADRACE_BUFFER_COUNT=3");
  environment.push_back(nullptr);
  std::vector<std::string> problems;
  EXPECT_EQ(read_settings(environment.data(), problems).buffer_count, 3) << "read to the end";
  EXPECT_GE(problems.size(), 10U);
  EXPECT_LE(problems.size(), 21U) << "20 of unknown names, and the one of a setting";
  for (const std::string& problem : problems) {
    EXPECT_LT(problem.size(), 300U);
    EXPECT_EQ(problem.find('\x1b'), std::string::npos);
  }
}

TEST(Settings, AreReadInOrdinaryPrograms) {
  EXPECT_FALSE(has_raised_privileges());
  EXPECT_FALSE(settings().disable);
}

TEST(Settings, TellWhereEachComesFrom) {
  const char* const environment[] = {"HEADRACE_QUIET=1",         "MPICH_MPIIO_CB_ALIGN=1",
                                     "HEADRACE_NODE_MEMORY=x",   "ROMIO_HINTS=/of/romio",
                                     "HEADRACE_HINTS_FILE=/own", nullptr};
  std::vector<std::string> problems;
  const SettingLayer site = {
      Origin::site, "", {{"HEADRACE_VERIFY", "1"}, {"HEADRACE_LISTEN", "0"}}};
  const SettingLayer user = {Origin::user, "", {{"HEADRACE_LISTEN", "1"}}};
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (const SettingInForce& one :
       settings_in_force(read_settings(environment, problems, {site, user}))) {
    found[one.name] = {one.value, one.origin};
  }
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(found.at("HEADRACE_QUIET"), Pair("1", "environment"));
  EXPECT_EQ(found.at("HEADRACE_CB_ALIGN"), Pair("1", "MPICH_MPIIO_CB_ALIGN"));
  EXPECT_EQ(found.at("HEADRACE_HINTS_FILE"), Pair("/own", "environment")) << "ours comes first";
  EXPECT_EQ(found.at("HEADRACE_NODE_MEMORY"), Pair("64m", "default")) << "it is no size";
  EXPECT_EQ(found.at("HEADRACE_SUMMARY"), Pair("1", "default"));
  EXPECT_EQ(found.at("HEADRACE_VERIFY"), Pair("1", "site"));
  EXPECT_EQ(found.at("HEADRACE_LISTEN"), Pair("1", "user"));
}

TEST(Settings, GetTheirDefaultOverALayerBelow) {
  const char* const environment[] = {"HEADRACE_BUFFER_SIZE=0", nullptr};
  std::vector<std::string> problems;
  const SettingLayer site = {Origin::site, "", {{"HEADRACE_BUFFER_SIZE", "1m"}}};
  EXPECT_EQ(read_settings(environment, problems, {site}).buffer_size, 0);
  EXPECT_TRUE(problems.empty());
}

TEST(Settings, OfCollectiveOperationsHaveTheNamesOfOtherMpis) {
  std::vector<std::string> problems;
  const char* const others[] = {"MPICH_COLL_OPT_OFF=MPI_Allreduce,bcast", "MPICH_COLL_DISPLAY=1",
                                "MPICH_ALLTOALLV_THROTTLE=3", nullptr};
  const Settings found = read_settings(others, problems, {});
  EXPECT_EQ(found.coll_off, (std::vector<std::string>{"mpi_allreduce", "bcast"}));
  EXPECT_TRUE(found.coll_display);
  EXPECT_EQ(found.alltoallv_throttle, 3);
  const char* const both[] = {"MPICH_COLL_OPT_OFF=1", "HEADRACE_COLL_OFF=barrier", nullptr};
  EXPECT_EQ(read_settings(both, problems, {}).coll_off, (std::vector<std::string>{"barrier"}));
  EXPECT_TRUE(problems.empty());
}

TEST(Settings, OfAWholeJobAreNotTakenFromFiles) {
  const char* const environment[] = {nullptr};
  std::vector<std::string> problems;
  const SettingLayer site = {Origin::site,
                             " ('/s')",
                             {{"HEADRACE_COLLECTIVES", "1"},
                              {"HEADRACE_USER", "/other"},
                              {"HEADRACE_HINTS", "*:cb_nodes=1"},
                              {"HEADRACE_LIBRARY", "/other.so"},
                              {"HEADRACE_VERIFY", "1"}}};
  const Settings found = read_settings(environment, problems, {site});
  EXPECT_FALSE(found.collectives);
  EXPECT_EQ(found.user, Settings().user);
  EXPECT_TRUE(found.hints.empty());
  EXPECT_TRUE(found.verify) << "what ranks agree on when they open a file may stand there";
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0],
            "HEADRACE_COLLECTIVES is ignored (all ranks of a job must have the same), set it in a "
            "module or the job's environment ('/s')");
}

}  // namespace
}  // namespace headrace
