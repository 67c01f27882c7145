#include "plan/exchange_plan.h"

#include <bit>
#include <utility>

namespace headrace::plan {

ExchangePlan::ExchangePlan(std::vector<RankRange> ranges, ByteCount window_size, Owners owners,
                           int leaders, std::int64_t joined_within)
    : ExchangePlan(ranges, Windows(ranges, window_size), std::move(owners), leaders,
                   joined_within) {}

ExchangePlan::ExchangePlan(std::vector<RankRange> ranges, Windows windows, Owners owners,
                           int leaders, std::int64_t joined_within)
    : ranges_(std::move(ranges)),
      windows_(std::move(windows)),
      owners_(std::move(owners)),
      leaders_(leaders),
      joined_within_(joined_within) {}

int ExchangePlan::owner_of(std::int64_t window) const {
  return owners_.owner_of(windows_.range(window).begin / windows_.window_size());
}

int ExchangePlan::leader_of(std::int64_t window) const {
  return owners_.leader_of(windows_.range(window).begin / windows_.window_size(), leaders_);
}

bool ExchangePlan::meets(int node, std::int64_t window) const {
  const RankRange& range = range_of(node);
  const FileRange file = windows_.range(window);
  return range.bytes > 0 && range.begin < file.end && range.end > file.begin;
}

int ExchangePlan::parts_of_others(std::int64_t window) const {
  return windows_.participants(window) - (meets(owner_of(window), window) ? 1 : 0);
}

FileRange ExchangePlan::places_of(int node) const {
  const RankRange& range = range_of(node);
  if (range.bytes == 0) return {};
  return {range.begin / windows_.window_size(), (range.end - 1) / windows_.window_size() + 1};
}

std::int64_t ExchangePlan::next(int node, int owner, std::int64_t window, int leader) const {
  const FileRange places = places_of(node);
  if (places.begin == places.end || window >= count()) return -1;
  const std::int64_t first =
      std::max(places.begin, windows_.range(window).begin / windows_.window_size());
  const std::int64_t found = owners_.next(owner, first, {leader, leaders_});
  return found >= 0 && found < places.end ? number_of(found) : -1;
}

std::int64_t ExchangePlan::last(int node, int owner, int leader) const {
  const FileRange places = places_of(node);
  const std::int64_t found = owners_.last(owner, places.begin, places.end, {leader, leaders_});
  return found >= 0 ? number_of(found) : -1;
}

std::int64_t ExchangePlan::joined_with(int node, std::int64_t window) const {
  if (joined_within_ == 0) return -1;
  const std::int64_t found = next(node, owner_of(window), window + 1, leader_of(window));
  return found >= 0 && found / joined_within_ == window / joined_within_ ? found : -1;
}

std::int64_t ExchangePlan::messages(int node, int owner) const {
  if (node == owner) return 0;
  std::int64_t found = 0;
  for (int leader = 0; leader < leaders_; ++leader) {
    std::int64_t window = next(node, owner, 0, leader);
    while (window >= 0) {
      ++found;
      const std::int64_t last = std::max(window, joined_with(node, window));
      window = next(node, owner, last + 1, leader);
    }
  }
  return found;
}

Traffic ExchangePlan::traffic() const {
  Traffic all;
  for (int owner = 0; owner < nodes(); ++owner) {
    for (int node = 0; node < nodes(); ++node) {
      const std::int64_t found = messages(node, owner);
      all.messages += found;
      for (int leader = 0; found > 0 && leader < leaders_; ++leader) {
        all.pairs += last(node, owner, leader) >= 0 ? 1 : 0;
      }
    }
  }
  std::vector<std::int64_t> owned(ranges_.size());
  for (std::int64_t window = 0; window < count(); ++window) {
    std::int64_t& mine = owned[static_cast<std::size_t>(owner_of(window))];
    all.rounds = std::max(all.rounds, ++mine);
  }
  return all;
}

std::int64_t meeting_messages(int nodes) {
  return 2 * nodes * static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(nodes - 1)));
}

}  // namespace headrace::plan
