#include "record/wait_bounds.h"

#include <algorithm>

namespace headrace::record {
namespace {

bool needs(const MetCall& call, int own, int other) {
  switch (call.meeting) {
    case Meeting::all: return true;
    case Meeting::from_root: return other == call.root;
    case Meeting::to_root: return own == call.root;
    case Meeting::lower: return other < own;
    case Meeting::some: return false;
  }
  return false;
}

}  // namespace

/// A wait is no longer than the call. Whom a rank does not need it may still have waited for:
/// libraries pass data on by other ranks, and share buffers.
std::optional<WaitBounds> wait_of(const MetCall& call, int own,
                                  std::span<const std::optional<Entry>> entries, bool gives_up) {
  const std::int64_t took = call.end - call.begin;
  WaitBounds found;
  for (int other = 0; other < static_cast<int>(entries.size()); ++other) {
    if (other == own) continue;
    const bool is_needed = needs(call, own, other);
    const std::optional<Entry>& entry = entries[static_cast<std::size_t>(other)];
    if (!entry) {
      if (is_needed || !gives_up) return std::nullopt;
      found.most = took;
      continue;
    }
    // Who entered later than the call ended was not needed, whatever the operation's name says: it
    // gave nothing, such as 0 elements.
    const std::int64_t after = entry->ticks_after(call.begin);
    found.most = std::max(found.most, std::min(after, took));
    if (is_needed && after <= took + Entry::kTicks && after > found.least) {
      found.least = std::min(after, took);
      found.awaited = other;
    }
  }
  return found;
}

}  // namespace headrace::record
