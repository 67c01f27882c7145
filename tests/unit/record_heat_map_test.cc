#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "record/heat_map.h"
#include "record/heat_rows.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << kHeatShift;

std::int64_t written(const HeatBins& bins) {
  return std::accumulate(bins.bins.begin(), bins.bins.end(), std::int64_t{0},
                         [](std::int64_t sum, const HeatBin& bin) { return sum + bin.written; });
}

/// What the recorder does with a rank's tables.
void move(HeatTable& table, std::int64_t HeatBin::* direction, std::int64_t bytes,
          std::int64_t begin, std::int64_t end) {
  spread_heat(table, direction, bytes, begin, end);
}

TEST(HeatMap, PlacesFollowEachOtherWithoutGaps) {
  EXPECT_EQ(heat_place(-5), 0U);
  for (std::size_t place = 0; place + 1 < kHeatPlaces; ++place) {
    const std::int64_t next = heat_begin(place + 1);
    ASSERT_LT(heat_begin(place), next);
    ASSERT_EQ(heat_place(heat_begin(place)), place);
    ASSERT_EQ(heat_place(next - 1), place);
    const std::int64_t width = kUnit << heat_level(place);
    ASSERT_EQ(next - heat_begin(place), width) << place;
    ASSERT_EQ(heat_begin(place) % width, 0) << "pairs of it become whole bins";
    ASSERT_LT(heat_begin(place) / width, kHeatBins);
  }
  EXPECT_EQ(heat_place(INT64_MAX), kHeatPlaces - 1);
}

TEST(HeatMap, ARunLongerThanTheBinsHasWiderOnesAndAllBytes) {
  auto table = std::make_unique<HeatTable>();
  constexpr std::int64_t kRun = 1000;  // units: four doublings
  for (std::int64_t at = 0; at < kRun; ++at) {
    move(*table, &HeatBin::written, at + 1, at * kUnit, at * kUnit + 1);
    move(*table, &HeatBin::read, 1, at * kUnit, at * kUnit + 1);
  }
  const HeatBins found = folded_heat(*table);
  EXPECT_EQ(found.level, 4);
  std::vector<HeatBin> truth(kHeatBins);
  for (std::int64_t at = 0; at < kRun; ++at) {
    truth[static_cast<std::size_t>(at / 16)].written += at + 1;
    truth[static_cast<std::size_t>(at / 16)].read += 1;
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(found.bins[i].written, truth[i].written) << i;
    EXPECT_EQ(found.bins[i].read, truth[i].read) << i;
  }
  const HeatBins wider = folded_heat(*table, 6);
  EXPECT_EQ(wider.level, 6);
  EXPECT_EQ(written(wider), kRun * (kRun + 1) / 2);
  EXPECT_EQ(wider.bins[0].read, 64);
}

TEST(HeatMap, ALongCallIsSpreadOverItsTimeWithoutLosingAByte) {
  auto table = std::make_unique<HeatTable>();
  move(*table, &HeatBin::written, 1'000'003, 62 * kUnit + kUnit / 2, 67 * kUnit);
  const HeatBins found = folded_heat(*table);
  EXPECT_EQ(found.level, 1);
  EXPECT_EQ(written(found), 1'000'003);
  EXPECT_NEAR(static_cast<double>(found.bins[31].written), 333'334, 2);
  EXPECT_NEAR(static_cast<double>(found.bins[32].written), 444'445, 2);
  EXPECT_NEAR(static_cast<double>(found.bins[33].written), 222'223, 2);
  move(*table, &HeatBin::read, 7, -kUnit, 3 * kUnit);
  EXPECT_EQ(folded_heat(*table).bins[0].read + folded_heat(*table).bins[1].read, 7);
}

/// Ranks of one node whose images are gathered.
class RowsOfHeat : public ::testing::Test {
 protected:
  HeatTables& rank(int number, int of, std::int64_t begin_later = 0) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", number, of));
    ImageFile& image = *made_.back()->image;
    image.header().begin_ticks += begin_later;
    ExtentHeader* const extent = image.take(ExtentKind::heat, kNone, sizeof(HeatTables), 1);
    auto* const tables = new (extent + 1) HeatTables{};
    extent->used = 1;
    made_.back()->finish();
    return *tables;
  }
  std::vector<HeatRow> gather() {
    std::vector<Image> images;
    for (const auto& each : made_) {
      images.push_back(std::move(Image::read(each->image->path()).value()));
    }
    UnpackedTable table = unpack(make_node_record(images, 0, {}).sections)[Table::heat];
    std::vector<HeatRow> rows;
    for (std::size_t i = 0; i < table.rows; ++i) rows.push_back(table.row<HeatRow>(i));
    return rows;
  }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
};

TEST_F(RowsOfHeat, HaveBinsThatAreNotEmptyWithTheirTimes) {
  HeatTables& tables = rank(0, 2);
  tables.layers[0].places[0] = {10, 0};
  tables.layers[0].places[3] = {0, 20};
  tables.layers[1].places[70] = {1, 2};
  rank(1, 2);
  const auto rows = gather();
  ASSERT_EQ(rows.size(), 3U);
  const std::int64_t start = made_[0]->image->header().start;
  const std::int64_t width = kUnit / MadeImage::kTicksOfNs;
  EXPECT_EQ(rows[0].begin, start);
  EXPECT_EQ(rows[0].width, width);
  EXPECT_EQ(rows[0].read, 10);
  EXPECT_EQ(rows[1].begin, start + 3 * width);
  EXPECT_EQ(rows[1].written, 20);
  EXPECT_EQ(rows[1].layer, 0);
  EXPECT_EQ(rows[2].layer, 1);
  EXPECT_EQ(rows[2].width, 2 * width);
  EXPECT_EQ(rows[2].begin, start + 76 * width);
  EXPECT_EQ(rows[2].ranks, 1);
}

TEST_F(RowsOfHeat, OfManyRanksStandForNeighbours) {
  rank(0, 1024).layers[0].places[2] = {1, 0};
  rank(1, 1024, kUnit).layers[0].places[2] = {10, 0};
  rank(2, 1024, kUnit / 4).layers[0].places[100] = {100, 5};
  rank(3, 1024).layers[1].places[0] = {-7, 7};
  rank(4, 1024).layers[0].places[0] = {1000, 0};
  const auto rows = gather();
  std::int64_t read = 0;
  for (const HeatRow& row : rows) {
    EXPECT_EQ(row.rank % 4, 0);
    EXPECT_EQ(row.ranks, row.rank == 0 ? 4 : 1);
    read += row.read;
  }
  EXPECT_EQ(read, 1111);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].read, 11) << "one bin, as wide as those of rank 2";
  EXPECT_EQ(rows[1].read, 100);
  EXPECT_EQ(rows[1].begin - rows[0].begin, 36 * rows[0].width);
  EXPECT_EQ(rows[0].width, rows[1].width);
  EXPECT_EQ(rows[2].layer, 1);
  EXPECT_EQ(rows[2].written, 7);
  EXPECT_EQ(rows[3].rank, 4);
}

TEST_F(RowsOfHeat, OfDamagedTablesAreWithinBounds) {
  HeatTables& tables = rank(0, 1);
  for (HeatBin& bin : tables.layers[0].places) bin = {INT64_MAX, -1};
  for (const HeatRow& row : gather()) {
    EXPECT_GE(row.read, 0);
    EXPECT_EQ(row.written, 0);
  }
}

}  // namespace
}  // namespace headrace::record
