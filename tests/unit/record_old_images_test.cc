#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include "record/old_images.h"
#include "unit/made_images.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kLarge = std::int64_t{1} << 40;

class OldImages : public ::testing::Test {
 protected:
  /// A job of one rank, which was killed so long ago.
  MadeImage& job(const std::string& name, std::int64_t seconds, bool runs = false) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, name, 0, 1));
    if (!runs) made_.back()->image->header().process_start += 1;
    age(name, seconds);
    return *made_.back();
  }
  void age(const std::string& name, std::int64_t seconds) {
    const timespec then{std::time(nullptr) - seconds, 0};
    const timespec times[] = {then, then};
    ::utimensat(AT_FDCWD, (folder_.path + "/" + name).c_str(), times, 0);
  }
  std::vector<std::string> left(const KeptImages& kept) {
    const std::string directories[] = {folder_.path, folder_.path + "/none"};
    remove_old_images(directories, kept);
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path)) {
      names.push_back(each.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
  using Names = std::vector<std::string>;

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
};

TEST_F(OldImages, GoByAge) {
  job("new", 2 * kHour);
  job("old", 4 * kHour);
  job("running", 4 * kHour, true);
  EXPECT_EQ(left({3 * kHour, kLarge}), (Names{"new", "running"}));
}

TEST_F(OldImages, OfSingleRanksGoByNumber) {
  job("a", 3 * kHour);
  job("b", 2 * kHour);
  job("c", 4 * kHour);
  job("d", 5 * kHour).image->header().rank_count = 2;
  EXPECT_EQ(left({kLarge, kLarge, 2}), (Names{"a", "b", "d"}));
}

TEST_F(OldImages, GoBySizeTheOldestFirst) {
  job("a", 3 * kHour);
  job("b", 2 * kHour);
  job("c", 1 * kHour);
  struct stat status{};
  ASSERT_EQ(::stat(made_[0]->image->path().c_str(), &status), 0);
  const std::int64_t each = std::int64_t{status.st_blocks} * 512;
  EXPECT_EQ(left({kLarge, 2 * each}), (Names{"b", "c"}));
  EXPECT_EQ(left({kLarge, 2 * each - 1}), (Names{"c"}));
}

TEST_F(OldImages, StayWhereTheyMayBeInUse) {
  job("elsewhere", 4 * kHour).image->header().process_space += 1;  // in another container
  job("foreign", 4 * kHour);
  std::ofstream(folder_.path + "/foreign/other") << "";
  age("foreign", 4 * kHour);
  std::filesystem::create_directory(folder_.path + "/begins");
  job("open", 4 * kHour);
  ::chmod((folder_.path + "/open").c_str(), 0777);
  EXPECT_EQ(left({0, 0}), (Names{"begins", "elsewhere", "foreign", "open"}));
}

}  // namespace
}  // namespace headrace::record
