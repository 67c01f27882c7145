#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/rounding.h"

namespace headrace::topo {

/// What two processes pass to and fro to measure how far their cores are apart: a page in memory
/// that both see, zeroed when new.
struct alignas(64) PageRelay {
  std::atomic<std::uint64_t> turn;
  alignas(64) std::array<std::byte, kPage> page;
};

/// The fastest of some pages that go to the other process and come back, in nanoseconds; 0 where it
/// did not come within some microseconds. Later measurements have greater numbers.
std::int64_t time_pages(PageRelay& relay, std::uint64_t measurement);
/// What the other process does meanwhile, or returns after some microseconds.
void answer_with_pages(PageRelay& relay, std::uint64_t measurement);

}  // namespace headrace::topo
