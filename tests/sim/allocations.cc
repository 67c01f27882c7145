#include "sim/allocations.h"

#include <cstdlib>
#include <new>

// Sanitizers have their own; there nothing is counted.

namespace headrace::sim {
namespace {

thread_local std::int64_t allocations = 0;
thread_local std::int64_t bytes = 0;

}  // namespace

std::int64_t allocations_of_thread() {
  return allocations;
}

std::int64_t allocated_by_thread() {
  return bytes;
}

void note_allocation(std::size_t size) {
  allocations += 1;
  bytes += static_cast<std::int64_t>(size);
}

}  // namespace headrace::sim

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(std::size_t size) {
  headrace::sim::note_allocation(size);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  headrace::sim::note_allocation(size);
  return std::malloc(size == 0 ? 1 : size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif
