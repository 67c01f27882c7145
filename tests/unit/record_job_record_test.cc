#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "record/gather.h"
#include "record/job_end.h"
#include "record/job_record.h"
#include "record/plain_decisions.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Four ranks on two nodes.
class JobRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 4; ++rank) {
      made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", rank, 4));
      made_.back()->call("MPI_Send", CallClass::point_to_point, kNone, 20, 100);
      made_.back()->note(NoteKind::fact, {"program", "/opt/app"});
      made_.back()->finish();
    }
  }
  GatheredNode node(std::uint32_t number) {
    std::vector<std::string> paths;
    for (std::size_t rank = 2 * number; rank < 2 * number + 2; ++rank) {
      paths.push_back(made_[rank]->image->path());
    }
    return std::move(gather_images(paths, number).value());
  }
  std::string records() const { return folder_.path + "/records"; }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
};

TEST_F(JobRecords, AreTheSameByWayOfABlock) {
  GatheredNode first = node(1);
  first.left_out = {"one", ""};
  first.record.held_files = {"/a", "/b"};
  const std::string block = pack_node(first);
  const Result<GatheredNode> second = unpack_node(block);
  ASSERT_TRUE(second);
  EXPECT_EQ(second.value().record.sections.bytes, first.record.sections.bytes);
  EXPECT_EQ(second.value().record.sections.count, first.record.sections.count);
  EXPECT_EQ(second.value().record.facts, first.record.facts);
  EXPECT_EQ(second.value().record.summary.ranks, 2);
  EXPECT_EQ(second.value().left_out, first.left_out);
  EXPECT_EQ(second.value().record.held_files, first.record.held_files);
  for (std::size_t length = 0; length < block.size(); ++length) {
    ASSERT_FALSE(unpack_node(std::string_view(block).substr(0, length))) << length;
  }
  EXPECT_FALSE(unpack_node(block + "x"));
}

TEST_F(JobRecords, NameFilesThatSeveralNodesHoldBytesOf) {
  std::vector<std::unique_ptr<PlainDecisions>> decisions;
  for (const auto& each : made_)
    decisions.push_back(std::make_unique<PlainDecisions>(*each->image));
  const auto note = [&](std::size_t rank, std::string_view subject, std::string_view reason) {
    EXPECT_TRUE(decisions[rank]->count({subject, "1 of 64 KiB", reason}, ""));
  };
  note(0, "buffers of '/own'", kOthersMayReach);
  note(1, "buffers of '/own'", kOthersMayReach);
  note(0, "buffers of '/local'", "HEADRACE_IOBUF names it");
  note(2, "buffers of '/local'", "HEADRACE_IOBUF names it");
  note(0, "buffers of '(files)'", kOthersMayReach);
  note(2, "buffers of '(files)'", kOthersMayReach);
  JobRecord alone({}, {{records()}});
  ASSERT_FALSE(alone.add(node(0)) || alone.add(node(1)));
  EXPECT_EQ(alone.held_twice(), "");
  for (const std::size_t rank : {1, 3}) {
    note(rank, "buffers of '/both'", kOthersMayReach);
    note(rank, "buffers of '/too'", kOthersMayReach);
  }
  JobRecord both({}, {{records()}});
  ASSERT_FALSE(both.add(node(0)) || both.add(node(1)));
  EXPECT_TRUE(both.held_twice().starts_with("'/both' and 1 more files were written"));
}

TEST_F(JobRecords, HoldTheSameWhetherKeptOrStreamed) {
  std::string bytes[2];
  for (int streams = 0; streams < 2; ++streams) {
    JobRecord job({{"job", "7"}}, {{records()}}, streams == 1 ? 0 : JobRecord::kMostKept);
    ASSERT_FALSE(job.add(node(0)));
    EXPECT_EQ(std::filesystem::exists(records()), streams == 1);
    ASSERT_FALSE(job.add(node(1)));
    const Result<WrittenRecord> written = job.finish();
    ASSERT_TRUE(written);
    EXPECT_EQ(written.value().problem, "");
    bytes[streams] = content(written.value().path);
    std::filesystem::remove_all(records());
  }
  // The job's tables come first, or last.
  EXPECT_NE(bytes[0], bytes[1]);
  std::ranges::sort(bytes[0]);
  std::ranges::sort(bytes[1]);
  EXPECT_EQ(bytes[0], bytes[1]);
}

/// Parts would be missing, and the images be removed.
TEST_F(JobRecords, AreGoneOnceAPartCouldNotBeWritten) {
  const rlimit limit{512, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  JobRecord job({}, {{records()}}, 0);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Error failed = job.add(node(0));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  ASSERT_TRUE(failed);
  EXPECT_EQ(job.add(node(1)).message, failed.message);
  const Result<WrittenRecord> written = job.finish();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, failed.message);
  EXPECT_FALSE(std::filesystem::exists(records()));
}

TEST_F(JobRecords, GoToTheNextPlaceWhereTheFirstTakesNone) {
  std::ofstream(folder_.path + "/file") << "";
  const std::string own = folder_.path + "/own";
  for (const std::size_t most : {JobRecord::kMostKept, std::size_t{0}}) {
    JobRecord job({}, {{folder_.path + "/file/records"}, {own, true}}, most);
    ASSERT_FALSE(job.add(node(0)));
    const Result<WrittenRecord> written = job.finish();
    ASSERT_TRUE(written);
    EXPECT_EQ(std::filesystem::path(written.value().path).parent_path(), own);
    EXPECT_NE(written.value().problem.find("cannot make the directory"), std::string::npos);
  }
  struct stat status{};
  ASSERT_EQ(::stat(own.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  ASSERT_EQ(::chmod(own.c_str(), 0777), 0);
  JobRecord job({}, {{folder_.path + "/file/records"}, {own, true}});
  ASSERT_FALSE(job.add(node(0)));
  EXPECT_FALSE(job.finish()) << "others might have put it there";
}

TEST_F(JobRecords, HaveNoOtherPlaceThanADefaultOneThatNobodyMayWriteTo) {
  const std::string own = folder_.path + "/own";
  for (const bool is_default : {true, false}) {
    for (const std::size_t most : {JobRecord::kMostKept, std::size_t{0}}) {
      JobRecord job({}, {{"/sys/records", false, is_default}, {own, true}}, most);
      EXPECT_EQ(static_cast<bool>(job.add(node(0))), is_default && most == 0);
      const Result<WrittenRecord> written = job.finish();
      ASSERT_TRUE(written);
      EXPECT_EQ(written.value().path.empty(), is_default);
      EXPECT_NE(written.value().problem.find("cannot make the directory"), std::string::npos);
    }
  }
}

TEST(KeptJobs, AreLongOrMoveDataOrDidNotEnd) {
  JobSummary job;
  job.rank_count = job.ranks = job.finalized = 2;
  job.run = 1000;
  EXPECT_TRUE(is_kept(job, {1000, false}));
  EXPECT_FALSE(is_kept(job, {1001, true}));
  job.rank_count = job.ranks = job.finalized = 1;
  EXPECT_TRUE(is_kept(job, {0, true}));
  EXPECT_FALSE(is_kept(job, {0, false}));
  job.moved = 1;
  EXPECT_TRUE(is_kept(job, {0, false}));
  job.moved = 0;
  job.finalized = 0;
  EXPECT_TRUE(is_kept(job, {1001, false})) << "what a job did that was killed is wanted";
}

TEST_F(JobRecords, SayWhatIsMissing) {
  JobRecord job({}, {{records()}});
  ASSERT_FALSE(job.add(node(0)));
  job.leave_out("node 1: it did not answer");
  const Result<WrittenRecord> written = job.finish();
  ASSERT_TRUE(written);
  const std::string bytes = content(written.value().path);
  EXPECT_NE(bytes.find("node 1: it did not answer"), std::string::npos);
  EXPECT_NE(written.value().path.find("app.4p1n."), std::string::npos);
}

TEST(Nodes, AreNumberedByTheirFirstRanks) {
  const RankEnd ends[] = {{7}, {9}, {7}, {3}, {9}};
  const std::vector<std::vector<int>> expected = {{0, 2}, {1, 4}, {3}};
  EXPECT_EQ(nodes_of(ends), expected);
}

TEST(Nodes, AreWaitedForNoLongerWhereOthersHaveGoneOn) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t ends[] = {100 * kSecond, 160 * kSecond};
  EXPECT_FALSE(has_gone_on(ends, 99 * kSecond));
  EXPECT_FALSE(has_gone_on(ends, 101 * kSecond)) << "its clock may be another one";
  EXPECT_TRUE(has_gone_on(ends, 110 * kSecond));
}

TEST(Nodes, SayWhichRanksCouldNotRecord) {
  const RankEnd ends[] = {{7}, {7}};
  const int ranks[] = {0, 1};
  const GatheredNode node = gather_node(ends, ranks, 0);
  EXPECT_EQ(node.record.summary.ranks, 0);
  EXPECT_EQ(node.record.summary.rank_count, 2);
  EXPECT_FALSE(node.record.summary.is_complete());
  EXPECT_EQ(node.left_out, (std::vector<std::string>{"rank 0: its recorder could not start",
                                                     "rank 1: its recorder could not start"}));
}

}  // namespace
}  // namespace headrace::record
