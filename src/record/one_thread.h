#pragma once

#include <atomic>
#include <cstdint>

#include "record/image.h"

namespace headrace::record {

/// The first thread that asks, by its number. What is counted for others to compare has one order
/// only if one thread counts.
class OneThread {
 public:
  bool is(std::uint32_t thread) noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    if (first == kNone) first_.compare_exchange_strong(first, thread);
    return first_.load(std::memory_order_relaxed) == thread;
  }
  /// kNone if none has asked.
  std::uint32_t number() const noexcept { return first_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> first_{kNone};
};

}  // namespace headrace::record
