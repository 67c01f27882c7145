#include "plan/domains.h"

#include <algorithm>
#include <limits>

#include "base/rounding.h"

namespace headrace::plan {
namespace {

/// begin + bytes, at most the largest offset.
FileOffset behind(FileOffset begin, ByteCount bytes) {
  return bytes > std::numeric_limits<FileOffset>::max() - begin
             ? std::numeric_limits<FileOffset>::max()
             : begin + bytes;
}

/// unit * size, at most the largest offset.
FileOffset start_of(std::int64_t unit, ByteCount size) {
  return unit > std::numeric_limits<FileOffset>::max() / size
             ? std::numeric_limits<FileOffset>::max()
             : unit * size;
}

/// Bytes that have one owner.
ByteCount unit_of(const DomainRule& rule) {
  if (rule.alignment == Alignment::even) return kPage;
  const ByteCount stripe = rule.stripe_size > 0 ? rule.stripe_size : rule.window_size;
  if (rule.alignment == Alignment::stripes || stripe >= rule.window_size) return stripe;
  return round_up(rule.window_size, stripe);
}

/// The number of units after which the same objects come again; at least one unit for each
/// aggregator.
std::int64_t period_of(const DomainRule& rule, ByteCount unit) {
  if (rule.alignment != Alignment::persistent) return 0;
  std::int64_t units = rule.stripe_count;
  if (rule.stripe_size > 0 && unit > rule.stripe_size) {
    const std::int64_t stripes = unit / rule.stripe_size;
    units = units % stripes == 0 ? units / stripes : 0;
  }
  return std::max<std::int64_t>(units, rule.aggregators);
}

}  // namespace

DomainMap::DomainMap(const DomainRule& rule, FileRange hull)
    : hull_(hull),
      window_(std::max<ByteCount>(1, rule.window_size)),
      unit_(std::max<ByteCount>(1, unit_of(rule))),
      per_unit_(divide_up(unit_, window_)),
      period_(period_of(rule, unit_)),
      first_unit_(hull.begin / unit_),
      unit_count_(hull.begin < hull.end ? (hull.end - 1) / unit_ - first_unit_ + 1 : 0),
      aggregators_(std::max(1, rule.aggregators)),
      most_rounds_(count_most_rounds()) {}

FileRange DomainMap::share(int aggregator) const {
  const std::int64_t each = unit_count_ / aggregators_;
  const std::int64_t longer = unit_count_ % aggregators_;  // how many have one unit more
  const std::int64_t first =
      first_unit_ + aggregator * each + std::min<std::int64_t>(aggregator, longer);
  return {first, first + each + (aggregator < longer ? 1 : 0)};
}

FileOffset DomainMap::first_window(FileRange share) const {
  const FileOffset begin = share.begin * unit_;
  return begin >= hull_.begin ? begin : begin + (hull_.begin - begin) / window_ * window_;
}

std::int64_t DomainMap::owned_in_period(int aggregator) const {
  return (period_ - 1 - aggregator) / aggregators_ + 1;
}

std::int64_t DomainMap::owned_below(int aggregator, std::int64_t unit) const {
  const std::int64_t rest = unit % period_ - aggregator;
  return unit / period_ * owned_in_period(aggregator) +
         (rest <= 0 ? 0 : divide_up<std::int64_t>(rest, aggregators_));
}

std::int64_t DomainMap::owned_unit(int aggregator, std::int64_t number) const {
  const std::int64_t owned = owned_in_period(aggregator);
  return number / owned * period_ + aggregator + number % owned * aggregators_;
}

int DomainMap::owner_of_unit(std::int64_t unit) const {
  return static_cast<int>(unit % period_ % aggregators_);
}

std::int64_t DomainMap::skipped(int aggregator) const {
  if (owner_of_unit(first_unit_) != aggregator) return 0;
  return hull_.begin % unit_ / window_;
}

int DomainMap::owner(FileOffset offset) const {
  const std::int64_t unit = offset / unit_;
  if (is_cyclic()) return owner_of_unit(unit);
  const std::int64_t each = unit_count_ / aggregators_;
  const std::int64_t longer = unit_count_ % aggregators_;
  const std::int64_t at = unit - first_unit_;
  if (at < longer * (each + 1)) return static_cast<int>(at / (each + 1));
  return static_cast<int>(longer + (at - longer * (each + 1)) / each);
}

std::int64_t DomainMap::beginning_below(int aggregator, FileOffset offset) const {
  if (is_cyclic()) {
    const std::int64_t unit = offset / unit_;
    const std::int64_t units = owned_below(aggregator, unit) - owned_below(aggregator, first_unit_);
    const std::int64_t part =
        owner_of_unit(unit) == aggregator ? divide_up(offset % unit_, window_) : 0;
    return std::max<std::int64_t>(0, units * per_unit_ + part - skipped(aggregator));
  }
  const FileRange units = share(aggregator);
  if (units.begin == units.end) return 0;
  const FileOffset begin = first_window(units);
  const FileOffset end = std::min(offset, start_of(units.end, unit_));
  return end <= begin ? 0 : divide_up(end - begin, window_);
}

std::int64_t DomainMap::rounds(int aggregator) const {
  return unit_count_ == 0 ? 0 : beginning_below(aggregator, hull_.end);
}

std::int64_t DomainMap::count_most_rounds() const {
  if (unit_count_ == 0) return 0;
  std::int64_t most = 0;
  const auto try_aggregator = [&](std::int64_t aggregator) {
    if (aggregator >= aggregators_) aggregator -= aggregators_;
    most = std::max(most, rounds(static_cast<int>(aggregator)));
  };
  if (is_cyclic() && period_ % aggregators_ != 0) {
    for (int aggregator = 0; aggregator < aggregators_; ++aggregator) try_aggregator(aggregator);
    return most;
  }
  // Aggregators differ only by their place relative to the hull's first and last unit, and by one
  // unit more or less.
  const std::int64_t first = is_cyclic() ? owner_of_unit(first_unit_) : 0;
  const std::int64_t last =
      is_cyclic() ? (unit_count_ - 1) % aggregators_ : unit_count_ % aggregators_;
  for (const std::int64_t distance :
       {std::int64_t{0}, std::int64_t{1}, last, last + 1, std::int64_t{aggregators_} - 1}) {
    try_aggregator(first + distance % aggregators_);
  }
  return most;
}

DomainMap::Place DomainMap::place(FileOffset offset) const {
  const int aggregator = owner(offset);
  return {aggregator, beginning_below(aggregator, offset + 1) - 1};
}

FileRange DomainMap::window(std::int64_t round, int aggregator) const {
  if (is_cyclic()) {
    const std::int64_t number =
        owned_below(aggregator, first_unit_) * per_unit_ + skipped(aggregator) + round;
    const FileOffset unit = owned_unit(aggregator, number / per_unit_) * unit_;
    const FileOffset begin = unit + number % per_unit_ * window_;
    return {begin, std::min(behind(begin, window_), behind(unit, unit_))};
  }
  const FileRange units = share(aggregator);
  const FileOffset begin = first_window(units) + round * window_;
  return {begin, std::min(behind(begin, window_), start_of(units.end, unit_))};
}

FileRange DomainMap::touched(std::int64_t round, int aggregator) const {
  const FileRange whole = window(round, aggregator);
  return {std::max(whole.begin, hull_.begin), std::min(whole.end, hull_.end)};
}

Rounds DomainMap::meeting(int aggregator, FileRange range) const {
  const FileOffset begin = std::max(range.begin, hull_.begin);
  const FileOffset end = std::min(range.end, hull_.end);
  if (begin >= end) return {};
  const bool owns_begin = owner(begin) == aggregator;
  const std::int64_t first =
      beginning_below(aggregator, owns_begin ? begin + 1 : begin) - (owns_begin ? 1 : 0);
  return {first, beginning_below(aggregator, end)};
}

ByteCount domain_window(ByteCount wanted, ByteCount largest, const DomainRule& rule) {
  const auto pages = [](ByteCount bytes) { return std::max<ByteCount>(1, bytes / kPage) * kPage; };
  const ByteCount stripe = rule.stripe_size;
  if (stripe <= 0) return round_up(std::max<ByteCount>(1, wanted), kPage);
  if (stripe > largest) {
    const ByteCount most = std::max(pages(wanted), pages(largest));
    const std::int64_t least_parts = divide_up(stripe, most);
    for (std::int64_t count = least_parts; count < 2 * least_parts; ++count) {
      if (stripe % count == 0 && stripe / count % kPage == 0) return stripe / count;
    }
    return most;
  }
  const std::int64_t fitting = std::max<std::int64_t>(1, std::min(wanted, largest) / stripe);
  if (rule.alignment != Alignment::persistent || rule.stripe_count <= 0) return fitting * stripe;
  if (rule.stripe_count % std::max(1, rule.aggregators) != 0) return stripe;
  const std::int64_t owned = rule.stripe_count / std::max(1, rule.aggregators);
  std::int64_t together = std::clamp<std::int64_t>(owned, 1, fitting);
  while (owned % together != 0) --together;
  return together * stripe;
}

}  // namespace headrace::plan
