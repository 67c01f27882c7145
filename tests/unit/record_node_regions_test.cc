#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/node_tables.h"
#include "record/region_names.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

/// Ranks of a node that were in regions, and the rows of these.
class NodeRegions : public ::testing::Test {
 protected:
  static constexpr std::int64_t kBegin = MadeImage::kBeginTicks;
  static constexpr std::int64_t kTicks = MadeImage::kTicksOfNs;

  MadeImage& rank(int number) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", number, 2));
    return *made_.back();
  }
  std::vector<RegionsRow> gather() {
    std::vector<Image> images;
    for (const auto& each : made_) {
      images.push_back(std::move(Image::read(each->image->path()).value()));
    }
    tables_ = unpack(make_node_record(images, 0, {}).sections);
    std::vector<RegionsRow> found;
    for (std::size_t i = 0; i < tables_[Table::regions].rows; ++i) {
      found.push_back(tables_[Table::regions].row<RegionsRow>(i));
    }
    return found;
  }
  std::string text(std::int64_t place) {
    return tables_[Table::texts].columns[0].texts.at(static_cast<std::size_t>(place));
  }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  std::map<Table, UnpackedTable> tables_;
};

[[gnu::noipa]] void barrier(MadeImage& made) {
  made.call("MPI_Barrier", CallClass::collective, made.world(2), 0, 10);
}

void begin(MadeImage& made, int id, const char* label, std::int64_t now) {
  made.thread->begin_region(id, label, now, 1);
}

TEST_F(NodeRegions, HaveTheCallsThatWereMadeInThem) {
  MadeImage& made = rank(0);
  for (int i = 0; i < 3; ++i) {
    barrier(made);
    begin(made, 71, "outer", kBegin);
    barrier(made);
    begin(made, 72, "inner", kBegin);
    barrier(made);
    made.thread->end_region(72, kBegin);
    made.thread->end_region(71, kBegin);
  }
  made.finish();
  const auto regions = gather();
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(text(regions[0].label), "outer");
  EXPECT_EQ(regions[0].id, 71);
  EXPECT_EQ(regions[0].entries, 3);
  std::map<std::int64_t, std::int64_t> calls;
  for (std::size_t i = 0; i < tables_[Table::calls].rows; ++i) {
    const auto row = tables_[Table::calls].row<CallsRow>(i);
    calls[row.region] += row.calls;
  }
  const std::map<std::int64_t, std::int64_t> wanted{
      {0, 3}, {regions[0].region, 3}, {regions[1].region, 3}};
  EXPECT_EQ(calls, wanted);
}

TEST_F(NodeRegions, HaveOneNumberOnAllRanks) {
  MadeImage& first = rank(0);
  begin(first, 73, "a", kBegin);
  begin(first, 74, "b", kBegin);
  MadeImage& second = rank(1);
  begin(second, 74, "b", kBegin);
  begin(second, 73, "a", kBegin);
  for (const auto& each : made_) each->finish();
  const auto regions = gather();
  ASSERT_EQ(regions.size(), 4U);
  for (std::size_t i = 0; i < 4; i += 2) {
    EXPECT_EQ(regions[i].id, regions[i + 1].id);
    EXPECT_EQ(regions[i].region, regions[i + 1].region);
    EXPECT_NE(regions[i].rank, regions[i + 1].rank);
  }
}

TEST_F(NodeRegions, ThatAreOpenAtTheEndLastUntilThen) {
  MadeImage& made = rank(0);
  begin(made, 75, "outer", kBegin + 100 * kTicks);
  begin(made, 76, "inner", kBegin + 300 * kTicks);
  made.finish();
  const auto regions = gather();
  ASSERT_EQ(regions.size(), 2U);
  constexpr std::int64_t kRun = 1'000'000'000;
  EXPECT_EQ(regions[0].time, kRun - 100);
  EXPECT_EQ(regions[0].own, 200);
  EXPECT_EQ(regions[1].time, kRun - 300);
  EXPECT_EQ(regions[1].own, kRun - 300);
}

TEST_F(NodeRegions, DoNotHaveTheTimeForWhichRecordingWasOff) {
  MadeImage& made = rank(0);
  begin(made, 77, "open", kBegin);
  made.finish();
  made.image->header().off_ticks = 300 * kTicks;
  made.image->header().off_since = made.image->header().end_ticks - 500 * kTicks;
  const auto regions = gather();
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].time, 1'000'000'000 - 800);
  EXPECT_EQ(tables_[Table::ranks].row<RanksRow>(0).off, 800);
}

TEST_F(NodeRegions, HaveLabelsOfWholeCharacters) {
  MadeImage& made = rank(0);
  const std::string label = std::string(kMostLabel - 1, 'x') + "\u00e4";
  begin(made, 78, label.c_str(), kBegin);
  made.finish();
  const auto regions = gather();
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(text(regions[0].label), std::string(kMostLabel - 1, 'x'));
}

TEST_F(NodeRegions, BeyondTheMostAreCountedTogether) {
  MadeImage& made = rank(0);
  constexpr int kFirst = 100;
  const int last = kFirst + static_cast<int>(kMostRegions) + 50;
  for (int id = kFirst; id < last; ++id) {
    begin(made, id, "many", kBegin);
    barrier(made);
    made.thread->end_region(id, kBegin);
  }
  made.finish();
  const auto regions = gather();
  // Regions of the tests before have names, too: this is the last one.
  ASSERT_LE(regions.size(), kMostRegions + 1);
  std::int64_t entries = 0;
  std::int64_t folded = 0;
  for (const RegionsRow& row : regions) {
    entries += row.entries;
    if (row.id == -1) folded += row.entries;
  }
  EXPECT_EQ(entries, last - kFirst);
  EXPECT_EQ(folded, last - kFirst - static_cast<std::int64_t>(regions.size()) + 1);
  EXPECT_GE(folded, 50);
}

}  // namespace
}  // namespace headrace::record
