#pragma once

#include <cstdint>

namespace headrace::sim {

/// How often this thread has allocated memory by operator new.
std::int64_t allocations_of_thread();
/// Bytes that it has allocated so, given back or not.
std::int64_t allocated_by_thread();

/// While it lives, this thread gets no memory but for so many allocations. One at a time.
class Lacking {
 public:
  explicit Lacking(std::int64_t allocations);
  ~Lacking();
  Lacking(const Lacking&) = delete;
  Lacking& operator=(const Lacking&) = delete;
};

}  // namespace headrace::sim
