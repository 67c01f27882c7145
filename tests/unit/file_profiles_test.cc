#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "file/profiles.h"
#include "unit/private_folder.h"

namespace headrace::file {
namespace {

std::string text_of(const std::string& kind, const std::string& mount,
                    const std::string& processor = "") {
  return "[profile]\nformat = 2\n[machine]\nnode_ranks = 2\nnodes = 1\nprocessor = \"" + processor +
         "\"\n[file_system]\n" + "kind = \"" + kind + "\"\n" +
         (mount.empty() ? "" : "mount = \"" + mount + "\"\n");
}

std::string here() {
  return "here";
}

class ProfileFiles : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms(0755));
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), 0644), 0);
    return path;
  }
  Profiles read() {
    return read_profiles({"", {folder_.path + "/user", folder_.path + "/site"}}, here);
  }

  record::PrivateFolder folder_;
};

TEST_F(ProfileFiles, OfTheUserGoBeforeTheSites) {
  put("site/a.toml", text_of("ext4", "/data"));
  put("site/b.toml", text_of("lustre", ""));
  const std::string own = put("user/z.toml", text_of("ext4", "/data"));
  put("user/notes.txt", "[");
  const Profiles profiles = read();
  ASSERT_EQ(profiles.all.size(), 3U);
  EXPECT_TRUE(profiles.problems.empty());
  EXPECT_EQ(find_profile(profiles, "ext4", "/data"), 1);
  EXPECT_EQ(profiles.all[0].path, own);
  EXPECT_EQ(find_profile(profiles, "lustre", "/anywhere"), 3);
  EXPECT_EQ(find_profile(profiles, "ext4", "/other"), 0);
  EXPECT_EQ(find_profile(profiles, "nfs", "/data"), 0);
}

TEST_F(ProfileFiles, OfAMountGoBeforeThoseOfAKind) {
  put("user/all.toml", text_of("nfs", ""));
  put("user/one.toml", text_of("nfs", "/home"));
  const Profiles profiles = read();
  EXPECT_EQ(find_profile(profiles, "nfs", "/home"), 2);
  EXPECT_EQ(find_profile(profiles, "nfs", "/work"), 1);
  EXPECT_EQ(find_profile(profiles, "nfs", ""), 1);
}

TEST_F(ProfileFiles, OfAnotherProcessorAreLeftOut) {
  put("user/a.toml", text_of("ext4", "", "elsewhere"));
  put("user/b.toml", text_of("ext4", "", "here"));
  const Profiles profiles = read();
  ASSERT_EQ(profiles.all.size(), 1U);
  EXPECT_TRUE(profiles.problems.empty()) << "a site has nodes of several kinds";
  const Profiles asked = read_profiles({folder_.path + "/user/a.toml", {}}, here);
  EXPECT_TRUE(asked.all.empty());
  ASSERT_EQ(asked.problems.size(), 1U);
  EXPECT_NE(asked.problems[0].find("it is of 'elsewhere', this is 'here'"), std::string::npos);
}

TEST_F(ProfileFiles, ThatOthersMayWriteAreLeftOut) {
  const std::string path = put("user/a.toml", text_of("ext4", ""));
  const auto problem = [&] {
    const Profiles profiles = read();
    EXPECT_EQ(profiles.all.empty(), !profiles.problems.empty());
    return profiles.problems.empty() ? "" : profiles.problems.front();
  };
  EXPECT_EQ(problem(), "");
  ASSERT_EQ(chmod(path.c_str(), 0664), 0);
  EXPECT_NE(problem().find("is ignored (others may write to it)"), std::string::npos);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod((folder_.path + "/user").c_str(), 0777), 0);
  EXPECT_NE(problem().find("others may write to its directory"), std::string::npos);
  ASSERT_EQ(chmod((folder_.path + "/user").c_str(), 0755), 0);
  std::filesystem::resize_file(path, 1 << 20);
  EXPECT_NE(problem().find("it has more than 64 KiB"), std::string::npos);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(problem().find("it is no file"), std::string::npos) << "and nobody waits for a writer";
}

TEST_F(ProfileFiles, AskedForStandAlone) {
  put("user/a.toml", text_of("ext4", ""));
  const std::string other = put("else/b.toml", text_of("nfs", ""));
  const std::vector<std::string> places{folder_.path + "/user"};
  const Profiles asked = read_profiles({other, places}, here);
  EXPECT_TRUE(asked.is_asked_for);
  ASSERT_EQ(asked.all.size(), 1U);
  EXPECT_EQ(find_profile(asked, "ext4", ""), 0);
  EXPECT_TRUE(read_profiles({"none", places}, here).all.empty());
  const Profiles missing = read_profiles({folder_.path + "/no.toml", places}, here);
  EXPECT_TRUE(missing.all.empty());
  ASSERT_EQ(missing.problems.size(), 1U);
  EXPECT_NE(missing.problems[0].find("No such file"), std::string::npos);
}

/// A directory full of profiles is no reason to ask for the processor at each of them.
TEST_F(ProfileFiles, AskForTheProcessorOnce) {
  static int asked = 0;
  for (const char* const name : {"a", "b", "c"}) {
    put("user/" + std::string(name) + ".toml", text_of("ext4", "", "here"));
  }
  const auto count = [] {
    ++asked;
    return here();
  };
  EXPECT_EQ(read_profiles({"", {folder_.path + "/user"}}, count).all.size(), 3U);
  EXPECT_EQ(asked, 1);
}

TEST_F(ProfileFiles, SayAFewOfManyProblems) {
  std::string text = text_of("ext4", "") + "[write]\n";
  for (int i = 0; i < 1000; ++i) text += "cost" + std::to_string(i) + " = \"1\"\n";
  put("user/a.toml", text);
  const Profiles profiles = read();
  ASSERT_EQ(profiles.problems.size(), 9U);
  EXPECT_EQ(profiles.problems.back(),
            "992 more lines on profiles are left out, mend those above first");
  EXPECT_EQ(profiles.all.size(), 1U);
}

TEST_F(ProfileFiles, AreTheSameIfTheirCostsAre) {
  EXPECT_EQ(read().fingerprint, 0);
  put("user/a.toml", text_of("ext4", ""));
  const std::int64_t one = read().fingerprint;
  EXPECT_NE(one, 0);
  put("site/b.toml", text_of("nfs", ""));
  EXPECT_NE(read().fingerprint, one);
}

}  // namespace
}  // namespace headrace::file
