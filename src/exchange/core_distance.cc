#include "exchange/core_distance.h"

#include <algorithm>

#include "base/settings.h"
#include "exchange/channel.h"

namespace headrace::exchange {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kUsualAge = std::chrono::milliseconds(10);

/// The first ones find the other rank on its way.
constexpr std::uint64_t kTrips = 6;

/// Looks until the other rank must be thought of as asleep, some ten microseconds; ten times as
/// many until it begins. They are counted, so that no look at the clock lengthens a trip.
constexpr int kMostLooks = 20'000;

bool comes(const std::atomic<std::uint64_t>& turn, std::uint64_t wanted, std::uint64_t trip) {
  for (int look = 0; look < (trip == 0 ? 10 * kMostLooks : kMostLooks); ++look) {
    if (turn.load(std::memory_order_acquire) >= wanted) return true;
  }
  return false;
}

/// The shortest trip, 0 where the other rank did not come. Turns from `begin` on are this
/// measurement's.
std::int64_t time_trips(LineRelay& relay, std::uint64_t begin) {
  Clock::duration shortest = Clock::duration::max();
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = begin + 2 * trip + 1;
    const Clock::time_point start = Clock::now();
    relay.turn.store(out, std::memory_order_release);
    if (!comes(relay.turn, out + 1, trip)) return 0;
    shortest = std::min(shortest, Clock::now() - start);
  }
  return std::max<std::int64_t>(1, std::chrono::nanoseconds(shortest).count());
}

void answer_trips(LineRelay& relay, std::uint64_t begin) {
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = begin + 2 * trip + 1;
    if (!comes(relay.turn, out, trip)) return;
    // Where the first rank has given up, it comes again only after this rank's next post.
    relay.turn.store(out + 1, std::memory_order_release);
  }
}

}  // namespace

CoreDistance::CoreDistance(Channel& channel)
    : channel_(channel),
      is_measured_(settings().core_distance == 0 && channel.control() != nullptr &&
                   !channel.is_crowded()),
      nanoseconds_(settings().core_distance) {}

bool CoreDistance::is_due() const {
  return is_measured_ && Clock::now() - measured_at_ > kUsualAge;
}

void CoreDistance::measure() {
  if (!is_measured_) return;
  LineRelay& relay = channel_.control()->line_relay;
  const std::uint64_t begin = channel_.board()->round() * (2 * kTrips + 1);
  if (channel_.node_rank() == 0) {
    nanoseconds_ = time_trips(relay, begin);
    measured_at_ = Clock::now();
  } else if (channel_.node_rank() == channel_.node_size() - 1) {
    answer_trips(relay, begin);
  }
}

}  // namespace headrace::exchange
