#include "fabric/core_distance.h"

#include "base/settings.h"
#include "fabric/channel.h"
#include "topo/page_relay.h"

namespace headrace::fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kUsualAge = std::chrono::milliseconds(10);

}  // namespace

CoreDistance::CoreDistance(Channel& channel)
    : channel_(channel),
      is_measured_(settings().core_distance == 0 && channel.nodes().shares_node() &&
                   !channel.is_crowded()),
      nanoseconds_(settings().core_distance) {}

bool CoreDistance::is_due() const {
  return is_measured_ && Clock::now() - measured_at_ > kUsualAge;
}

void CoreDistance::measure() {
  if (!is_measured_) return;
  topo::PageRelay& relay = channel_.page_relay();
  const std::uint64_t measurement = channel_.board().round();
  if (channel_.nodes().node_rank() == 0) {
    const std::int64_t measured = topo::time_pages(relay, measurement);
    if (measured > 0) nanoseconds_ = measured;
    measured_at_ = Clock::now();
  } else if (channel_.nodes().node_rank() == channel_.nodes().node_size() - 1) {
    topo::answer_with_pages(relay, measurement);
  }
}

}  // namespace headrace::fabric
