#include "topo/page_relay.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;

/// Several, since the first trips are slower.
constexpr std::uint64_t kTrips = 6;

/// After this time the other rank counts as asleep: on the first trip, and on later ones.
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

/// The number under which the first rank sends the page. The page comes back under the next number.
std::uint64_t turn_of(std::uint64_t measurement, std::uint64_t trip) {
  return measurement * (2 * kTrips + 1) + 2 * trip + 1;
}

/// Writes the page as a rank writes a slot, so that this core owns its cache lines.
void fill(PageRelay& relay, std::uint64_t trip) {
  relay.page.fill(static_cast<std::byte>(trip));
}

/// Copies the page to this core and returns the time that took.
Clock::duration fetch(const PageRelay& relay) {
  // At the same distance from a page's begin: otherwise some processors copy slower
  // (docs/measurements/copy-kernels.md).
  alignas(kPage) std::array<std::byte, 2 * kPage> own;
  std::byte* const place = own.data() + reinterpret_cast<std::uintptr_t>(&relay.page) % kPage;
  std::size_t size = relay.page.size();
  asm("" : "+r"(size));  // so that the C library copies, as it does a slot's pieces
  const Clock::time_point start = Clock::now();
  std::memcpy(place, relay.page.data(), size);
  asm volatile("" : : "r"(place) : "memory");  // keeps the compiler from leaving the copy out
  return Clock::now() - start;
}

}  // namespace

std::int64_t time_pages(PageRelay& relay, std::uint64_t measurement) {
  assert(relay.turn.load(std::memory_order_relaxed) < turn_of(measurement, 0));
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
    // If the first rank has given up, it comes back only after this rank's next post.
    relay.turn.store(out + 1, std::memory_order_release);
  }
}

}  // namespace headrace::topo
