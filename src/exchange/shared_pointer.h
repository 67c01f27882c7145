#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace headrace::exchange {

/// The shared pointer of a file, in etypes of its view. It lies in the memory of the first rank's
/// node. Views use two cells in turn: the next view's cell can be cleared while ranks still use the
/// present one's.
struct SharedPointer {
  std::array<std::atomic<std::int64_t>, 2> cells;
};

/// What advance() returns if the pointer would exceed 63 bits.
inline constexpr std::int64_t kPointerTooFar = -1;

/// Moves a pointer by `etypes` >= 0 and returns where it was. Does not move it if it would
/// overflow.
inline std::int64_t advance(std::atomic<std::int64_t>& cell, std::int64_t etypes) {
  assert(etypes >= 0);
  std::int64_t before = cell.load(std::memory_order_acquire);
  std::int64_t after = 0;
  do {
    if (__builtin_add_overflow(before, etypes, &after)) return kPointerTooFar;
  } while (!cell.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  return before;
}

}  // namespace headrace::exchange
