#include "record/node_regions.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace headrace::record {
namespace {

constexpr std::int64_t kOtherRegions = -1;

std::int64_t id_in(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_good = error == std::errc() && end == text.data() + text.size();
  return is_good && id >= 0 && id <= INT32_MAX ? id : kOtherRegions;
}

/// From `since` to `now`, on the clock of recording.
std::int64_t passed(std::int64_t since, std::int64_t now) {
  return since > 0 ? std::max<std::int64_t>(now - since, 0) : 0;
}

}  // namespace

std::int64_t NodeRegions::number_of(std::int64_t id, std::int64_t label) {
  const auto next = static_cast<std::int64_t>(numbers_.size()) + 1;
  return numbers_.try_emplace({id, label}, next).first->second;
}

std::vector<std::int64_t> NodeRegions::add(const Image& image, const RankTimes& times) {
  struct Told {
    std::int64_t id;
    std::int64_t label;
  };
  std::vector<Told> told{{0, -1}};
  std::vector<std::int64_t> numbers{0};
  for (const Image::Note& note : image.notes(NoteKind::region)) {
    const std::string_view label = note.size() < 2 ? std::string_view() : note[1];
    told.push_back({note.empty() ? kOtherRegions : id_in(note[0]), texts_.place(label)});
    numbers.push_back(number_of(told.back().id, told.back().label));
  }
  const std::int64_t now = times.end().ticks - off_ticks(image, times);
  for (const auto& [number, thread] : image.threads()) {
    const RegionMark& mark = thread.totals.region;
    for (const RegionItem& item : thread.regions) {
      if (item.note == kNone) continue;
      const std::size_t place = std::size_t{item.note} + 1;
      const bool is_innermost = mark.region == place;
      RegionsRow row;
      row.rank = image.header().rank;
      row.thread = number;
      row.region = numbers[place];
      row.id = told[place].id;
      row.label = told[place].label;
      row.entries = std::max<std::int64_t>(item.entries, 0);
      row.time = times.ns(item.ticks + (item.open > 0 ? passed(item.since, now) : 0));
      row.own = times.ns(item.own + (is_innermost ? passed(mark.since, now) : 0));
      rows_.push_back(row);
    }
  }
  return numbers;
}

std::span<const RegionsRow> NodeRegions::rows() {
  std::ranges::sort(rows_, {}, [](const RegionsRow& row) {
    return std::tuple(row.region, row.rank, row.thread);
  });
  return rows_;
}

}  // namespace headrace::record
