#include "sim/allocations.h"

#include <cstdlib>
#include <limits>
#include <new>

// Sanitizers have their own; there nothing is counted, and nothing refused.

namespace headrace::sim {
namespace {

thread_local std::int64_t allocations = 0;
thread_local std::int64_t bytes = 0;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
thread_local std::int64_t left = kNoLimit;

}  // namespace

Lacking::Lacking(std::int64_t allocations) {
  left = allocations;
}

Lacking::~Lacking() {
  left = kNoLimit;
}

std::int64_t allocations_of_thread() {
  return allocations;
}

std::int64_t allocated_by_thread() {
  return bytes;
}

void* allocate(std::size_t size) {
  allocations += 1;
  bytes += static_cast<std::int64_t>(size);
  if (left == 0) return nullptr;
  if (left != kNoLimit) left -= 1;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace headrace::sim

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(std::size_t size) {
  if (void* const memory = headrace::sim::allocate(size)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return headrace::sim::allocate(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif
