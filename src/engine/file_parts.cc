#include <algorithm>

#include "base/settings.h"
#include "engine/open_file.h"

// Calls that their caller makes in parts, and what a rank may hold in buffers of its own.

namespace headrace::engine {
namespace {

/// Parts below this size cost more calls than they spare memory.
constexpr ByteCount kLeastPart = ByteCount{4} << 10;
constexpr ByteCount kMostPart = ByteCount{1} << 20;

}  // namespace

Result<Place> OpenFile::take_place(const TransferCall& whole) {
  const Prepared prepared = prepare(whole, false);
  if (prepared.failed) return prepared.failed;
  const ByteCount etype = unit_of(*prepared.view);
  const std::int64_t etypes = whole.count * whole.type->size() / etype;
  const std::int64_t begin = whole.offset.value_or(prepared.move.end - etypes);
  return Place{begin, etype, prepared.move.end, prepared.move.seeks};
}

void OpenFile::leave_place(const TransferCall& whole, const Place& place, ByteCount missing) {
  if (missing > 0) pull_back(whole, place.etype, missing, {place.end, place.seeks});
}

ByteCount OpenFile::find_own_share() const {
  return std::max(kLeastPart, settings().node_memory / (8 * channel_->node_size()));
}

ByteCount OpenFile::part_size() const {
  return std::min(kMostPart, own_share_);
}

Result<std::int64_t> OpenFile::largest(std::int64_t mine) {
  drain_lane();
  constexpr exchange::Combine ways[] = {exchange::Combine::max};
  exchange::Values values{mine};
  if (Error error = channel_->combine(values, ways)) return error;
  return values[0];
}

}  // namespace headrace::engine
