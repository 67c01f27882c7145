#pragma once

#include <cstdint>

namespace headrace::storage {

/// What it takes to copy some KiB of a file in memory, in nanoseconds.
struct CopyTimes {
  std::int64_t well_placed = 0;
  std::int64_t misplaced = 0;
  std::int64_t again = 0;  ///< the same bytes once more, within the process
};

/// To places as is_misplaced() tells of them, and to others, from a file of its own in memory;
/// takes about 50 us. All 0 where there are no such files.
CopyTimes measure_copies();

/// Whether reading misplaced bytes to a better place and copying them from there is faster, and not
/// by chance.
constexpr bool is_worth_a_copy(const CopyTimes& times) {
  return times.misplaced - times.well_placed > times.again + times.again / 2;
}

}  // namespace headrace::storage
