#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "unit/allocation_operators.h"

// For one source of a program, whose threads may be left without memory.

namespace headrace::allocation {

/// Of this thread: allocations that are left.
inline thread_local std::int64_t left = std::numeric_limits<std::int64_t>::max();

/// While it lives, this thread gets no memory but for so many allocations.
class Lacking {
 public:
  explicit Lacking(std::int64_t allocations = 0) : before_(std::exchange(left, allocations)) {}
  ~Lacking() { left = before_; }
  Lacking(const Lacking&) = delete;
  Lacking& operator=(const Lacking&) = delete;

 private:
  std::int64_t before_;
};

}  // namespace headrace::allocation

bool headrace::allocation::is_refused() noexcept {
  if (left <= 0) return true;
  --left;
  return false;
}
void headrace::allocation::note_taken(void*) noexcept {}
void headrace::allocation::note_given_back(void*) noexcept {}
