#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "record/gather.h"
#include "record/record_file.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class Gathering : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    for (int i = 0; i < 2; ++i) {
      made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", i, 2));
      made_.back()->call("MPI_Send", CallClass::point_to_point, kNone, 20, 100);
      made_.back()->note(NoteKind::fact, {"program", "/opt/a b"});
      made_.back()->finish();
      paths_.push_back(made_.back()->image->path());
    }
  }
  std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(directory)) {
      names.push_back(each.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  std::vector<std::string> paths_;
};

TEST(RecordNames, TellOfTheJob) {
  ::setenv("TZ", "UTC", 1);
  const std::int64_t start = 1'764'324'900 * kSecond;
  EXPECT_EQ(record_name("/opt/app", "1234", 4, 2, start), "app.1234.4p2n.20251128T101500");
  EXPECT_EQ(record_name("app", "", 4, 1, start), "app.4p1n.20251128T101500");
  EXPECT_EQ(record_name("", "a/b", 1, 1, start), "program.b.1p1n.20251128T101500");
  EXPECT_EQ(record_name("/x/..\n", "", 1, 1, start), "_._.1p1n.20251128T101500");
}

TEST_F(Gathering, WritesARecordThatReplacesNone) {
  const std::string directory = folder_.path + "/a/b/";
  const Facts job{{"job", "77"}};
  for (const char* const name :
       {"a_b.77.2p1n.20270115T080000.hrc", "a_b.77.2p1n.20270115T080000-2.hrc",
        "a_b.77.2p1n.20270115T080000-3.hrc"}) {
    const Result<std::string> path = write_record(paths_, job, directory);
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_EQ(std::filesystem::path(path.value()).filename(), name);
  }
  EXPECT_EQ(names_in(directory).size(), 3U) << "nothing else is left";
}

TEST_F(Gathering, GivesRecordsTheModeOfTheUsersFiles) {
  const mode_t before = ::umask(027);
  const Result<std::string> path = write_record(paths_, {}, folder_.path + "/records");
  ::umask(before);
  ASSERT_TRUE(path);
  struct stat status{};
  ASSERT_EQ(::stat(path.value().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(Gathering, LeavesOutWhatIsNoImageOfTheJob) {
  const std::string wrong = folder_.path + "/job/rank-7";
  std::ofstream(wrong) << "nothing";
  MadeImage stranger(folder_.path, "other", 5, 9);
  std::vector<std::string> all = paths_;
  all.insert(all.end(), {wrong, stranger.image->path(), paths_[0]});
  const Result<GatheredNode> node = gather_images(all, 0);
  ASSERT_TRUE(node);
  EXPECT_EQ(node.value().record.summary.ranks, 2);
  EXPECT_TRUE(node.value().record.summary.is_complete());
  ASSERT_EQ(node.value().left_out.size(), 3U);
  EXPECT_EQ(node.value().left_out[0], wrong + ": it is no recorder's memory (it is too short)");
  const Result<GatheredNode> none = gather_images({&wrong, 1}, 0);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("it is too short"), std::string::npos);
}

TEST_F(Gathering, ListsTheImagesOfADirectoryOfThisUserAlone) {
  const std::string directory = folder_.path + "/job";
  for (const char* const name : {"/rank-10", "/rank-", "/rank-1x", "/rank--1", "/other"}) {
    std::ofstream(directory + name) << "";
  }
  const auto listed = image_paths_in(directory);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed.value(),
            (std::vector{directory + "/rank-0", directory + "/rank-1", directory + "/rank-10"}));
  ASSERT_EQ(::chmod(directory.c_str(), 0777), 0);
  const auto open = image_paths_in(directory);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("it is not this user's alone"), std::string::npos);
  EXPECT_FALSE(image_paths_in(folder_.path + "/none"));
}

TEST_F(Gathering, TellsWhatKeepsARecordFromBeingWritten) {
  std::ofstream(folder_.path + "/file") << "";
  const Result<std::string> in_file = write_record(paths_, {}, folder_.path + "/file/records");
  ASSERT_FALSE(in_file);
  EXPECT_NE(in_file.error().message.find("cannot make the directory of the records"),
            std::string::npos);

  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string records = folder_.path + "/records";
  const Result<std::string> too_large = write_record(paths_, {}, records);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().system_error, EFBIG);
  EXPECT_FALSE(std::filesystem::exists(records)) << "what was begun is removed";
}

TEST_F(Gathering, SumsUpNodes) {
  JobSummary job;
  job.add({4, 1, 2, 2, 900, 50, 3});
  job.add({4, 1, 2, 1, 800, 70, 4});
  EXPECT_EQ(job.nodes, 2);
  EXPECT_EQ(job.start, 800);
  EXPECT_EQ(job.run, 70);
  EXPECT_EQ(job.ranks, 4);
  EXPECT_EQ(job.lost_calls, 7);
  EXPECT_FALSE(job.is_complete());
}

}  // namespace
}  // namespace headrace::record
