#include "plan/windows.h"

#include <algorithm>

#include "base/rounding.h"

namespace headrace::plan {

Windows::Windows(std::span<const RankRange> ranges, ByteCount window_size)
    : Windows(ranges.size()) {
  set(ranges, window_size);
}

Windows::Windows(std::size_t most_ranges) {
  ranges_.reserve(most_ranges);
  sorted_.reserve(most_ranges);
  stretches_.reserve(most_ranges);
}

/// Call for ranges in the order of their first bytes.
inline void Windows::add_windows_of(const RankRange& range) {
  const FileOffset begin = range.begin / window_size_ * window_size_;
  const FileOffset end = round_up(range.end, window_size_);
  if (stretches_.empty() ||
      begin > stretches_.back().begin + stretches_.back().number * window_size_) {
    stretches_.push_back({begin, count_, 0});
  }
  Stretch& last = stretches_.back();
  last.number = std::max(last.number, (end - last.begin) / window_size_);
  count_ = last.first + last.number;
}

void Windows::set(std::span<const RankRange> ranges, ByteCount window_size) {
  window_size_ = window_size;
  ranges_.clear();
  stretches_.clear();
  count_ = 0;
  span_ = 0;
  common_ = {};
  for (const RankRange& range : ranges) {
    if (range.bytes > 0) ranges_.push_back(range);
  }
  sorted_.assign(ranges_.begin(), ranges_.end());
  std::ranges::sort(sorted_, {}, &RankRange::begin);
  if (sorted_.empty()) return;
  FileOffset counted = 0;  // bytes below are counted in span_, or in no rank's range
  common_ = {sorted_.back().begin, sorted_.front().end};
  for (const RankRange& range : sorted_) {
    span_ += std::max<ByteCount>(0, range.end - std::max(range.begin, counted));
    counted = std::max(counted, range.end);
    common_.end = std::min(common_.end, range.end);
    add_windows_of(range);
  }
}

void Windows::resize(ByteCount window_size) {
  window_size_ = window_size;
  stretches_.clear();
  count_ = 0;
  for (const RankRange& range : sorted_) add_windows_of(range);
}

const Windows::Stretch& Windows::stretch_of_window(std::int64_t window) const {
  return *std::prev(std::ranges::upper_bound(stretches_, window, {}, &Stretch::first));
}

FileRange Windows::range(std::int64_t window) const {
  const Stretch& stretch = stretch_of_window(window);
  const FileOffset begin = stretch.begin + (window - stretch.first) * window_size_;
  return {begin, begin + window_size_};
}

int Windows::participants_of(const FileRange& file) const {
  if (common_.begin < file.end && common_.end > file.begin) return static_cast<int>(ranges_.size());
  return static_cast<int>(std::ranges::count_if(ranges_, [&](const RankRange& rank) {
    return rank.begin < file.end && rank.end > file.begin;
  }));
}

bool Windows::ends_a_range(std::int64_t window) const {
  const FileRange file = range(window);
  if (common_.begin <= file.begin && common_.end > file.end) return false;
  return std::ranges::any_of(ranges_, [&](const RankRange& rank) {
    return rank.end > file.begin && rank.end <= file.end;
  });
}

FileRange Windows::touched(std::int64_t window) const {
  const FileRange file = range(window);
  if (common_.begin <= file.begin && common_.end >= file.end) return file;
  FileRange touched{file.end, file.begin};
  for (const RankRange& rank : ranges_) {
    if (rank.begin >= file.end || rank.end <= file.begin) continue;
    touched.begin = std::min(touched.begin, std::max(rank.begin, file.begin));
    touched.end = std::max(touched.end, std::min(rank.end, file.end));
  }
  return touched;
}

std::int64_t Windows::window_of(FileOffset offset) const {
  const Stretch& stretch =
      *std::prev(std::ranges::upper_bound(stretches_, offset, {}, &Stretch::begin));
  return stretch.first + (offset - stretch.begin) / window_size_;
}

ByteCount fitting_window(ByteCount bytes, std::int64_t wanted, ByteCount least, ByteCount largest) {
  ByteCount size = largest;
  while (size / 2 % least == 0 && bytes / size < wanted) size /= 2;
  return size;
}

}  // namespace headrace::plan
