#include "plan/exchange_plan.h"

#include <bit>

namespace headrace::plan {

ExchangePlan::ExchangePlan(std::vector<RankRange> ranges, ByteCount window_size, Owners owners)
    : ranges_(std::move(ranges)), windows_(ranges_, window_size), owners_(owners) {}

int ExchangePlan::owner_of(std::int64_t window) const {
  return owners_.owner_of(place_of(window));
}

bool ExchangePlan::meets(int node, std::int64_t window) const {
  const RankRange& range = range_of(node);
  const FileRange file = windows_.range(window);
  return range.bytes > 0 && range.begin < file.end && range.end > file.begin;
}

int ExchangePlan::parts_of_others(std::int64_t window) const {
  return windows_.participants(window) - (meets(owner_of(window), window) ? 1 : 0);
}

// A node's range lies within one stretch of windows that follow one another.
std::int64_t ExchangePlan::next(int node, int owner, std::int64_t window) const {
  const RankRange& range = range_of(node);
  if (range.bytes == 0) return -1;
  const std::int64_t first = std::max(window, windows_.window_of(range.begin));
  const std::int64_t last = windows_.window_of(range.end - 1);
  if (first > last) return -1;
  const std::int64_t place = place_of(first);
  const std::int64_t found = first + owners_.next(owner, place) - place;
  return found <= last ? found : -1;
}

std::int64_t ExchangePlan::last(int node, int owner) const {
  std::int64_t found = next(node, owner, 0);
  if (found < 0) return -1;
  return found +
         (windows_.window_of(range_of(node).end - 1) - found) / owners_.nodes * owners_.nodes;
}

std::int64_t ExchangePlan::messages(int node, int owner) const {
  const std::int64_t first = next(node, owner, 0);
  if (node == owner || first < 0) return 0;
  return (last(node, owner) - first) / owners_.nodes + 1;
}

Traffic ExchangePlan::traffic() const {
  Traffic all;
  for (int owner = 0; owner < nodes(); ++owner) {
    for (int node = 0; node < nodes(); ++node) {
      const std::int64_t parts = messages(node, owner);
      all.parts += parts;
      all.pairs += parts > 0 ? 1 : 0;
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
  return nodes * static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(nodes - 1)));
}

}  // namespace headrace::plan
