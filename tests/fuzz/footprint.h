#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// Bytes of a file as sorted, separate ranges [first, second).
using Footprint = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The bytes of a view that a call touches.
inline Footprint footprint(const ViewMap& view, std::int64_t etype, std::int64_t bytes) {
  Footprint ranges;
  if (view.shows_nothing()) return ranges;
  for (std::int64_t i = 0; i < bytes; ++i) {
    const std::int64_t offset = view.offset_of(etype * view.unit() + i);
    if (!ranges.empty() && ranges.back().second == offset) {
      ++ranges.back().second;
    } else {
      ranges.emplace_back(offset, offset + 1);
    }
  }
  if (view.is_ascending()) return ranges;
  std::ranges::sort(ranges);
  Footprint joined;
  for (const auto& range : ranges) {
    if (joined.empty() || joined.back().second < range.first) joined.push_back(range);
    joined.back().second = std::max(joined.back().second, range.second);
  }
  return joined;
}

inline bool overlap(const Footprint& a, const Footprint& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].second <= b[j].first)
      ++i;
    else if (b[j].second <= a[i].first)
      ++j;
    else
      return true;
  }
  return false;
}

inline std::int64_t end_of(const Footprint& bytes) {
  return bytes.empty() ? 0 : bytes.back().second;
}

}  // namespace headrace::fuzz
