#include "file/agreed_view.h"

#include <algorithm>

#include "base/rounding.h"
#include "base/settings.h"
#include "exchange/slots.h"
#include "file/exchange_planner.h"
#include "policy/exchange.h"
#include "policy/slot_count.h"

namespace headrace::file {
namespace {

/// The window size for buffers of `buffer_size` bytes: whole pages, and whole stripes if they are
/// known. A stripe so large that no memory would be left for another file is cut into several
/// windows.
ByteCount window_size(ByteCount buffer_size, ByteCount stripe) {
  constexpr ByteCount kLargestWindow = ByteCount{4} << 20;
  const ByteCount most = std::max(buffer_size, kLargestWindow);
  if (stripe <= most) return round_up(buffer_size, std::max(kPage, stripe));
  return plan::domain_window(buffer_size, most, {.stripe_size = stripe});
}

/// The window size between nodes, not larger than `window`: whatever the buffers' size, a storage
/// target belongs to one aggregator, as far as there are enough targets.
ByteCount window_between(const Agreement& agreement, ByteCount window, int nodes) {
  const DomainHints domains{.aggregators = agreement.aggregators,
                            .stripe_count = agreement.stripe_count};
  const std::int64_t asked = asked_aggregators(domains);
  // Fewer may be chosen; each target still has only one.
  const std::int64_t aggregators =
      std::min(agreement.stripe_count, asked > 0 ? asked : std::int64_t{nodes});
  const ByteCount found = plan::domain_window(
      window, window,
      {.alignment = agreement.alignment,
       .stripe_size = agreement.stripe,
       .stripe_count = agreement.stripe_count,
       .aggregators = static_cast<int>(std::max<std::int64_t>(1, aggregators))});
  // Messages and requests of smaller stripes would cost more than locks do.
  return found < plan::kLeastWindow ? window : found;
}

int slot_count(std::int64_t wanted, ByteCount window_size, int nodes) {
  if (settings().buffer_count == 0) wanted = policy::slots_of_size(wanted, window_size, nodes);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 2, exchange::kMaxSlots));
}

}  // namespace

void apply_hints_and_layout(Agreement& agreement) {
  const CommonHints& hints = agreement.hints;
  agreement.write_path = static_cast<policy::PathHint>(hints[kWritePath]);
  agreement.read_path = static_cast<policy::PathHint>(hints[kReadPath]);
  const Stripes stripes = stripes_of(agreement.layout, hints);
  agreement.stripe = stripes.size;
  agreement.stripe_count = stripes.count;
  // The file counts as one stripe without end.
  if (stripes.size == 0 && agreement.layout.locks_whole_files) agreement.stripe_count = 1;
  agreement.alignment = static_cast<plan::Alignment>(hints[kCbAlign]);
  agreement.aggregators = {std::min<std::int64_t>(hints[kCbNodes], agreement.ranks),
                           hints[kNodesMultiplier], hints[kMaxForObject]};
  agreement.lock_ahead = hints[kLockAhead] == 1 && storage::has_lock_ahead(agreement.layout.kind);
}

void set_view(Agreement& agreement, const ViewShape& shape) {
  const CommonHints& hints = agreement.hints;
  agreement.view = {.node_ranks = shape.node_ranks,
                    .smallest_mean_piece = shape.mean_piece,
                    .is_monotonic = shape.is_monotonic,
                    .nodes = shape.nodes,
                    .stripe = agreement.stripe,
                    .is_coherent = agreement.layout.is_coherent || hints[kMimicSize] > 0,
                    .is_one_file = agreement.layout.is_one_file,
                    .profile = agreement.profile};
  const ByteCount asked = hints[kBufferSize];
  agreement.node_window = window_size(asked > 0 ? asked : policy::kUsualBuffer, agreement.stripe);
  agreement.window_size = agreement.node_window;
  if (agreement.view.may_exchange()) {
    if (agreement.stripe > 0) {
      agreement.window_size = window_between(agreement, agreement.node_window, shape.nodes);
    } else if (asked == 0) {
      agreement.window_size = policy::usual_buffer_between(shape.nodes);
    }
  }
  agreement.view.window = std::min(agreement.node_window, agreement.window_size);
  agreement.slot_count = slot_count(shape.slots, agreement.window_size, shape.nodes);
}

}  // namespace headrace::file
