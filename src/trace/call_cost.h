#pragma once

#include <cstdint>

#include "record/clock.h"

namespace headrace::trace {

/// The clock when all that the program did before is done. A processor works on hundreds of
/// instructions at once: without this a caller's work would be taken for that of the small function
/// that it calls next, and what tracing takes could not be told from it.
inline std::int64_t ticks_after_all() noexcept {
#if defined(__x86_64__)
  __asm__ volatile("lfence" ::: "memory");
#endif
  return record::ticks();
}

/// What tracing one call takes, in ticks. `inside` lies between the two moments that are taken as
/// the call's beginning and end, `outside` before and behind these, so in its caller.
struct CallCost {
  std::int64_t inside = 0;
  std::int64_t outside = 0;
};

/// Bytes of arguments on the stack for which the copy was measured.
inline constexpr std::int64_t kSmallCopy = 128;
inline constexpr std::int64_t kLargeCopy = 4096;

/// As measured when tracing starts; zeros until then, so that nothing is left out.
struct CallCosts {
  CallCost by_trampoline;  ///< without a copy
  CallCost by_hooks;
  std::int64_t small_copy = 0;  ///< more for kSmallCopy bytes; all of it is inside
  std::int64_t large_copy = 0;

  std::int64_t copy_of(std::int64_t bytes) const noexcept {
    if (bytes == 0) return 0;
    if (bytes <= kSmallCopy) return small_copy;
    return small_copy +
           (bytes - kSmallCopy) * (large_copy - small_copy) / (kLargeCopy - kSmallCopy);
  }
};

/// Set before threads trace.
extern constinit CallCosts call_costs;

}  // namespace headrace::trace
