#pragma once

#include <cstdint>

namespace headrace::storage {

/// Times of copying some KiB of a file in memory, in nanoseconds.
struct CopyTimes {
  std::int64_t well_placed = 0;
  std::int64_t misplaced = 0;
  std::int64_t again = 0;  ///< the same bytes once more, within the process
};

/// Measures copies to misplaced places (is_misplaced()) and to others, from a file that it makes in
/// memory. Takes about 50 us. All 0 if no such file can be made.
CopyTimes measure_copies();

/// Whether reading to a better place and copying from there is clearly faster than a misplaced
/// read.
constexpr bool is_worth_a_copy(const CopyTimes& times) {
  return times.misplaced - times.well_placed > times.again + times.again / 2;
}

}  // namespace headrace::storage
