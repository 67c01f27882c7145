#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/rounding.h"

namespace headrace::topo {

/// A page of shared memory that two processes pass back and forth, to measure how far apart their
/// cores are. Zeroed when new.
struct alignas(64) PageRelay {
  std::atomic<std::uint64_t> turn;
  alignas(64) std::array<std::byte, kPage> page;
};

/// Sends the page to the other process some times and returns the shortest time to fetch it back,
/// in nanoseconds; 0 if the other process did not answer within some microseconds. Each
/// `measurement` must have a greater number than the one before.
std::int64_t time_pages(PageRelay& relay, std::uint64_t measurement);
/// The other process's part. Returns after some microseconds if the first process does not come.
void answer_with_pages(PageRelay& relay, std::uint64_t measurement);

}  // namespace headrace::topo
