#include "exchange/core_distance.h"

#include <algorithm>
#include <cstring>

#include "base/settings.h"
#include "exchange/channel.h"

namespace headrace::exchange {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kUsualAge = std::chrono::milliseconds(10);

/// The first ones find the other rank on its way.
constexpr std::uint64_t kTrips = 6;

/// Looks until the other rank must be thought of as asleep, some ten microseconds; ten times as
/// many until it begins.
constexpr int kMostLooks = 20'000;

bool comes(const std::atomic<std::uint64_t>& turn, std::uint64_t wanted, std::uint64_t trip) {
  for (int look = 0; look < (trip == 0 ? 10 * kMostLooks : kMostLooks); ++look) {
    if (turn.load(std::memory_order_acquire) >= wanted) return true;
  }
  return false;
}

/// Writes the page as one that gets a slot's bytes does, so that its lines are this core's alone.
void fill(PageRelay& relay, std::uint64_t trip) {
  relay.page.fill(static_cast<std::byte>(trip));
}

/// Brings the page to this core; how long it took.
Clock::duration fetch(const PageRelay& relay) {
  // As far in a page: elsewhere some processors copy slower (docs/copy-kernels.md).
  alignas(kPage) std::array<std::byte, 2 * kPage> own;
  std::byte* const place = own.data() + reinterpret_cast<std::uintptr_t>(&relay.page) % kPage;
  std::size_t size = relay.page.size();
  asm("" : "+r"(size));  // by the C library, as a slot's pieces
  const Clock::time_point start = Clock::now();
  std::memcpy(place, relay.page.data(), size);
  asm volatile("" : : "r"(place) : "memory");  // it counts as looked at
  return Clock::now() - start;
}

/// The fastest of some pages that the other rank has written, 0 where it did not come. Turns from
/// `begin` on are this measurement's.
std::int64_t time_pages(PageRelay& relay, std::uint64_t begin) {
  Clock::duration shortest = Clock::duration::max();
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = begin + 2 * trip + 1;
    fill(relay, trip);
    relay.turn.store(out, std::memory_order_release);
    if (!comes(relay.turn, out + 1, trip)) return 0;
    shortest = std::min(shortest, fetch(relay));
  }
  return std::max<std::int64_t>(1, std::chrono::nanoseconds(shortest).count());
}

void answer_with_pages(PageRelay& relay, std::uint64_t begin) {
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = begin + 2 * trip + 1;
    if (!comes(relay.turn, out, trip)) return;
    fetch(relay);
    fill(relay, trip);
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
  PageRelay& relay = channel_.control()->page_relay;
  const std::uint64_t begin = channel_.board()->round() * (2 * kTrips + 1);
  if (channel_.node_rank() == 0) {
    const std::int64_t measured = time_pages(relay, begin);
    if (measured > 0) nanoseconds_ = measured;
    measured_at_ = Clock::now();
  } else if (channel_.node_rank() == channel_.node_size() - 1) {
    answer_with_pages(relay, begin);
  }
}

}  // namespace headrace::exchange
