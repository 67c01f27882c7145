#include "topo/page_relay.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;

/// The first trips are slower: the other rank has to be found, and its lines.
constexpr std::uint64_t kTrips = 6;

/// After this the other rank must be thought of as asleep: until it begins, and on its way.
constexpr Clock::duration kFirstTripTimeout = std::chrono::microseconds(100);
constexpr Clock::duration kTripTimeout = std::chrono::microseconds(10);

constexpr int kChecksPerClockRead = 64;

bool arrives_in_time(const std::atomic<std::uint64_t>& turn, std::uint64_t wanted,
                     std::uint64_t trip) {
  const Clock::time_point end = Clock::now() + (trip == 0 ? kFirstTripTimeout : kTripTimeout);
  do {
    for (int check = 0; check < kChecksPerClockRead; ++check) {
      if (turn.load(std::memory_order_acquire) >= wanted) return true;
    }
  } while (Clock::now() < end);
  return false;
}

/// With what the first rank sends a page out; it arrives_in_time back with the next number.
std::uint64_t turn_of(std::uint64_t measurement, std::uint64_t trip) {
  return measurement * (2 * kTrips + 1) + 2 * trip + 1;
}

/// Writes the page as one that gets a slot's bytes does, so that its lines are this core's alone.
void fill(PageRelay& relay, std::uint64_t trip) {
  relay.page.fill(static_cast<std::byte>(trip));
}

/// Brings the page to this core; how long it took.
Clock::duration fetch(const PageRelay& relay) {
  // As far in a page: elsewhere some processors copy slower (docs/measurements/copy-kernels.md).
  alignas(kPage) std::array<std::byte, 2 * kPage> own;
  std::byte* const place = own.data() + reinterpret_cast<std::uintptr_t>(&relay.page) % kPage;
  std::size_t size = relay.page.size();
  asm("" : "+r"(size));  // by the C library, as a slot's pieces
  const Clock::time_point start = Clock::now();
  std::memcpy(place, relay.page.data(), size);
  asm volatile("" : : "r"(place) : "memory");  // it counts as looked at
  return Clock::now() - start;
}

}  // namespace

std::int64_t time_pages(PageRelay& relay, std::uint64_t measurement) {
  Clock::duration shortest = Clock::duration::max();
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = turn_of(measurement, trip);
    fill(relay, trip);
    relay.turn.store(out, std::memory_order_release);
    if (!arrives_in_time(relay.turn, out + 1, trip)) return 0;
    shortest = std::min(shortest, fetch(relay));
  }
  return std::max<std::int64_t>(1, std::chrono::nanoseconds(shortest).count());
}

void answer_with_pages(PageRelay& relay, std::uint64_t measurement) {
  for (std::uint64_t trip = 0; trip < kTrips; ++trip) {
    const std::uint64_t out = turn_of(measurement, trip);
    if (!arrives_in_time(relay.turn, out, trip)) return;
    fetch(relay);
    fill(relay, trip);
    // Where the first rank has given up, it arrives_in_time again only after this rank's next post.
    relay.turn.store(out + 1, std::memory_order_release);
  }
}

}  // namespace headrace::topo
