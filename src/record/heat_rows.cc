#include "record/heat_rows.h"

#include <algorithm>
#include <map>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

bool is_empty(const HeatBin& bin) {
  return bin.read <= 0 && bin.written <= 0;
}

void add(HeatBin& into, const HeatBin& bin) {
  into.read = sum(into.read, not_negative(bin.read));
  into.written = sum(into.written, not_negative(bin.written));
}

/// Ranks of one number stand together.
std::int64_t group_of(const ImageHeader& header) {
  const std::int64_t count = header.rank_count;
  return count <= kMostHeatRanks ? header.rank : header.rank * kMostHeatRanks / count;
}

/// Adds rows of the ranks that stand together. The first rank's clock and begin count: ranks of a
/// node have one clock, and a bin of another rank goes to the one in which its middle lies.
void add_group(std::vector<HeatRow>& rows, std::span<const Image> images, const RankTimes& times,
               std::size_t layer) {
  int level = 0;
  for (const Image& image : images) {
    if (const HeatTables* const tables = image.heat()) {
      level = std::max(level, folded_heat(tables->layers[layer]).level);
    }
  }
  const int shift = kHeatShift + level;
  const ImageHeader& first = images.front().header();
  std::map<std::int64_t, HeatBin> found;
  for (const Image& image : images) {
    if (image.heat() == nullptr) continue;
    const HeatBins folded = folded_heat(image.heat()->layers[layer], level);
    const std::int64_t later = image.header().begin_ticks - first.begin_ticks;
    const std::int64_t bins_later =
        (later >> shift) + (later >> (shift - 1) & 1);  // to the nearest
    for (std::int64_t i = 0; i < kHeatBins; ++i) {
      const HeatBin& bin = folded.bins[static_cast<std::size_t>(i)];
      if (!is_empty(bin)) add(found[std::max<std::int64_t>(i + bins_later, 0)], bin);
    }
  }
  const double width = static_cast<double>(std::int64_t{1} << shift);
  for (const auto& [bin, moved] : found) {
    HeatRow row;
    row.rank = first.rank;
    row.ranks = static_cast<std::int64_t>(images.size());
    row.layer = static_cast<std::int64_t>(layer);
    row.begin = sum(not_negative(first.start), times.ns(bounded(static_cast<double>(bin) * width)));
    row.width = std::max<std::int64_t>(times.ns(std::int64_t{1} << shift), 1);
    row.read = moved.read;
    row.written = moved.written;
    rows.push_back(row);
  }
}

}  // namespace

HeatBins folded_heat(const HeatTable& table, int level) {
  HeatBins made;
  made.level = level;
  for (std::size_t place = kHeatPlaces; place-- > 0;) {
    if (is_empty(table.places[place])) continue;
    made.level = std::max(level, heat_level(place));
    break;
  }
  for (std::size_t place = 0; place < kHeatPlaces; ++place) {
    if (is_empty(table.places[place])) continue;
    const std::int64_t bin = heat_begin(place) >> (kHeatShift + made.level);
    add(made.bins[static_cast<std::size_t>(bin)], table.places[place]);
  }
  return made;
}

std::vector<HeatRow> heat_rows(std::span<const Image> images, std::span<const RankTimes> times) {
  std::vector<HeatRow> rows;
  for (std::size_t begin = 0, end = 0; begin < images.size(); begin = end) {
    const std::int64_t group = group_of(images[begin].header());
    while (end < images.size() && group_of(images[end].header()) == group) ++end;
    for (std::size_t layer = 0; layer < kHeatLayers; ++layer) {
      add_group(rows, images.subspan(begin, end - begin), times[begin], layer);
    }
  }
  return rows;
}

}  // namespace headrace::record
