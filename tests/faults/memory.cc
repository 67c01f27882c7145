// The process's memory: allocations of the engine fail where the injector says so. Replaces the
// C++ library's operators.

#include <cstdlib>
#include <new>

#include "faults/injector.h"

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  using headrace::faults::Operation;
  if (headrace::faults::is_in_engine() &&
      headrace::faults::Injector::instance().strike(Operation::memory,
                                                    headrace::faults::rank_of_thread(), 0)) {
    throw std::bad_alloc();
  }
  void* place = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    place = std::malloc(size == 0 ? 1 : size);
  } else if (posix_memalign(&place, alignment, size) != 0) {
    place = nullptr;
  }
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, 0);
}
void* operator new[](std::size_t size) {
  return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept {
  std::free(place);
}
void operator delete[](void* place) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}
void operator delete[](void* place, std::size_t) noexcept {
  std::free(place);
}
void operator delete(void* place, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete[](void* place, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete[](void* place, std::size_t, std::align_val_t) noexcept {
  std::free(place);
}
